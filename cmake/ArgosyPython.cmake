# argosy_extension(NAME)
#
# The Python extension argosy.NAME: every .cc of the current folder but tests, with all rooms inside. It is built straight
# into build/<preset>/python/argosy/, beside links to the pure Python packages, so that this one folder on sys.path is the
# whole front end. Its symbols are hidden: the process may hold another copy of the rooms (libargosy.so).
#
# pybind11 is the copy inside torch, because torch's own types are registered with it.
function(argosy_extension name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")
  Python_add_library(${name} MODULE WITH_SOABI ${sources})
  target_compile_options(${name} PRIVATE -fvisibility=hidden)
  target_compile_definitions(${name} PRIVATE TORCH_EXTENSION_NAME=${name})
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL)
  get_property(rooms GLOBAL PROPERTY ARGOSY_ROOMS)
  foreach(room ${rooms})
    target_link_libraries(${name} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,argosy_${room}>)
  endforeach()
  # Its own precompiled header: pybind11's templates are what these files cost, not torch's.
  target_link_libraries(${name} PRIVATE argosy_torch)
  set_property(TARGET ${name} APPEND PROPERTY BUILD_RPATH "${ARGOSY_TORCH_LIB}")
  target_compile_options(${name} PRIVATE -fpch-preprocess)
  target_precompile_headers(${name} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/python_pch.h")
  target_link_libraries(${name} PRIVATE argosy_flags "${ARGOSY_TORCH_LIB}/libtorch_python.so")
  argosy_unite(${name})
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/python/argosy"
                                           INSTALL_RPATH "$ORIGIN/../torch/lib")
  install(TARGETS ${name} DESTINATION argosy COMPONENT python)
  argosy_stubs(${name})
endfunction()

# The target NAME_stubs: what type checkers and editors know of the extension argosy.NAME, read from the built one, in a folder NAME/ beside
# it; the layer functions' types are those of the operators' entries (ArgosyFunctions). A folder without __init__.py hides no extension of its
# name.
function(argosy_stubs name)
  set(packages "${PROJECT_BINARY_DIR}/python")
  set(stub "${packages}/argosy/${name}/__init__.pyi")
  add_custom_command(
    OUTPUT "${stub}"
    COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/write_stubs.py" "argosy.${name}" "${packages}" "layers=${argosy_layers_stub}"
    DEPENDS ${name} "${argosy_layers_stub}" "${PROJECT_SOURCE_DIR}/tools/write_stubs.py" COMMENT "Writing the stubs of ${name}" VERBATIM)
  add_custom_target(${name}_stubs ALL DEPENDS "${stub}")
  argosy_use_functions(${name}_stubs)
  add_dependencies(${name}_stubs argosy_python_packages)  # the extension is imported as a part of its package
  install(DIRECTORY "${packages}/argosy/${name}" DESTINATION argosy COMPONENT python FILES_MATCHING PATTERN "*.pyi")
endfunction()

# Links the packages under `folder` into build/<preset>/python/ at every build.
function(argosy_python_packages folder)
  add_custom_target(argosy_python_packages ALL
    COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/link_packages.py" "${folder}" "${PROJECT_BINARY_DIR}/python"
    COMMENT "Linking the Python packages" VERBATIM)
endfunction()
