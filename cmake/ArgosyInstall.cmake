# libargosy.so, made of every room, and what `cmake --install` gives: the headers, the library, the programs and a package for
# find_package(argosy).
#
# The rooms go in whole, because ops and rules register themselves. A user needs torch and fmt, which the headers show; the
# other libraries are the shared library's own.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

get_property(rooms GLOBAL PROPERTY ARGOSY_ROOMS)
add_library(argosy SHARED "${PROJECT_SOURCE_DIR}/cmake/libargosy.cc")
add_library(argosy::argosy ALIAS argosy)
foreach(room ${rooms})
  target_link_libraries(argosy PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,argosy_${room}>)
endforeach()
if(TARGET argosy_functions)
  add_dependencies(argosy argosy_functions)
  target_include_directories(argosy INTERFACE "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>")
  install(FILES "${argosy_layers_header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/argosy/engine/ops" COMPONENT core)
endif()
target_link_libraries(argosy PUBLIC PkgConfig::fmt)
target_compile_features(argosy PUBLIC cxx_std_20)
target_include_directories(argosy INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
set_target_properties(argosy PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                                        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
if(ARGOSY_TORCH)
  target_link_libraries(argosy PUBLIC argosy_torch)
  set_target_properties(argosy PROPERTIES BUILD_RPATH "${ARGOSY_TORCH_LIB}" INSTALL_RPATH "${ARGOSY_TORCH_LIB}")
endif()

get_property(programs GLOBAL PROPERTY ARGOSY_PROGRAMS)
if(programs AND SKBUILD)
  # In a wheel: beside the interpreter, whose site-packages hold torch.
  set_target_properties(${programs} PROPERTIES
    INSTALL_RPATH "$ORIGIN/../lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages/torch/lib")
  install(TARGETS ${programs} RUNTIME DESTINATION "${SKBUILD_SCRIPTS_DIR}" COMPONENT python)
elseif(programs)
  set_target_properties(${programs} PROPERTIES INSTALL_RPATH "${ARGOSY_TORCH_LIB}")
  install(TARGETS ${programs} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT core)
endif()
if(TARGET _core)
  add_custom_target(argosy_wheel DEPENDS _core ${programs})
  add_custom_target(argosy_run DEPENDS argosy_wheel argosy_python_packages)  # what `make build` makes
endif()
install(TARGETS argosy EXPORT argosyTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT core)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/argosy" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT core
        FILES_MATCHING PATTERN "*.h" PATTERN "*_test.h" EXCLUDE PATTERN "python" EXCLUDE PATTERN "apps" EXCLUDE
        PATTERN "testing" EXCLUDE)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/argosy")
install(EXPORT argosyTargets NAMESPACE argosy:: DESTINATION "${package_dir}" COMPONENT core)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/argosyConfig.cmake.in" "${PROJECT_BINARY_DIR}/package/argosyConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/argosyConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/argosyConfig.cmake" "${PROJECT_BINARY_DIR}/package/argosyConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/ArgosyTorch.cmake" DESTINATION "${package_dir}" COMPONENT core)
