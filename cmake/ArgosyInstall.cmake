# libargosy.so, made of every room, and what `cmake --install` gives: the public headers, the library, the programs and a package
# for find_package(argosy). A Python wheel has the same inside of the package argosy.
#
# The rooms go in whole, because ops and rules register themselves. A user needs torch; the other libraries are the shared
# library's own. The headers show fmt, whose own headers are installed beside them: torch has others of the same name.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
include(ArgosyPublicHeaders)

set(install_lib "${CMAKE_INSTALL_LIBDIR}")
set(install_include "${CMAKE_INSTALL_INCLUDEDIR}")
set(install_bin "${CMAKE_INSTALL_BINDIR}")
set(install_doc "${CMAKE_INSTALL_DOCDIR}")
if(SKBUILD)
  set(install_lib argosy/lib)
  set(install_include argosy/include)
  set(install_bin argosy/bin)
  set(install_doc argosy/doc)
endif()

get_property(rooms GLOBAL PROPERTY ARGOSY_ROOMS)
add_library(argosy SHARED "${PROJECT_SOURCE_DIR}/cmake/libargosy.cc")
add_library(argosy::argosy ALIAS argosy)
foreach(room ${rooms})
  target_link_libraries(argosy PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,argosy_${room}>)
endforeach()
target_link_libraries(argosy PUBLIC $<BUILD_INTERFACE:PkgConfig::fmt>)
if(TARGET argosy_functions)
  argosy_use_functions(argosy)
  target_include_directories(argosy INTERFACE "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>")
  install(FILES "${argosy_layers_header}" DESTINATION "${install_include}/argosy/engine/ops" COMPONENT core)
  install(FILES "${argosy_layers_page}" DESTINATION "${install_doc}" COMPONENT core)
endif()
target_compile_features(argosy PUBLIC cxx_std_20)
set(public_headers ${ARGOSY_PUBLIC_COLLECTIVE})
if(ARGOSY_PROGRAMS)
  list(APPEND public_headers ${ARGOSY_PUBLIC_PROGRAMS})
endif()
list(TRANSFORM public_headers PREPEND "${PROJECT_SOURCE_DIR}/")
target_sources(argosy PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${public_headers})
find_path(ARGOSY_FMT_HEADERS fmt/core.h REQUIRED)
set(fmt_headers core format format-inl)
list(TRANSFORM fmt_headers REPLACE "(.+)" "${ARGOSY_FMT_HEADERS}/fmt/\\1.h")
target_include_directories(argosy BEFORE INTERFACE "$<INSTALL_INTERFACE:${install_include}/argosy/third_party>")
target_compile_definitions(argosy INTERFACE $<INSTALL_INTERFACE:FMT_HEADER_ONLY>)
set_target_properties(argosy PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                                        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

# Where what is installed looks for torch: beside itself in a wheel, else in the Python of the same prefix. A program that links
# argosy::argosy finds it by its own path. Never a folder of the machine that it was built on.
get_property(programs GLOBAL PROPERTY ARGOSY_APPS)
if(SKBUILD)
  set(torch_from_lib "$ORIGIN/../../torch/lib")
  set(torch_from_bin "$ORIGIN/../../torch/lib")
elseif(ARGOSY_PYTHON)
  set(site "python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages/torch/lib")
  set(torch_from_lib "$ORIGIN/${site}")
  set(torch_from_bin "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/${site}")
endif()
if(ARGOSY_TORCH)
  target_link_libraries(argosy PUBLIC argosy_torch)
  set_target_properties(argosy PROPERTIES BUILD_RPATH "${ARGOSY_TORCH_LIB}" INSTALL_RPATH "${torch_from_lib}")
endif()
if(programs)
  set_target_properties(${programs} PROPERTIES INSTALL_RPATH "${torch_from_bin}")
  install(TARGETS ${programs} RUNTIME DESTINATION "${install_bin}" COMPONENT core)
endif()
if(TARGET _core)
  add_custom_target(argosy_run DEPENDS _core _core_stubs ${programs} argosy_python_packages)  # what `make build` makes
  add_custom_target(argosy_wheel DEPENDS _core _core_stubs ${programs} argosy)
endif()

install(TARGETS argosy EXPORT argosyTargets LIBRARY DESTINATION "${install_lib}" COMPONENT core
        FILE_SET HEADERS DESTINATION "${install_include}" COMPONENT core)
install(FILES ${fmt_headers} DESTINATION "${install_include}/argosy/third_party/fmt" COMPONENT core)
set(package_dir "${install_lib}/cmake/argosy")
install(EXPORT argosyTargets NAMESPACE argosy:: DESTINATION "${package_dir}" COMPONENT core)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/argosyConfig.cmake.in" "${PROJECT_BINARY_DIR}/package/argosyConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/argosyConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/argosyConfig.cmake" "${PROJECT_BINARY_DIR}/package/argosyConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/ArgosyTorch.cmake" DESTINATION "${package_dir}" COMPONENT core)
