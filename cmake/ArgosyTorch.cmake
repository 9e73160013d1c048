# libtorch as the target argosy_torch: the one of Torch_DIR or CMAKE_PREFIX_PATH, or else the wheel of the Python that CMake
# finds. Used by this build and, installed beside argosyConfig.cmake, by the projects that use argosy. Where there is none that
# will do, argosy_torch_error says why and what to set.
#
#   argosy_torch_exactly   the only version that will do; not set: 2.11 and later
#
# The wheel ships old copies of protobuf, fmt and pybind11 under torch/include; its folders therefore come after all others
# (-idirafter), so that the system's headers win. torch's own targets are left as they are: a user's project may link them too.
set(argosy_torch_error "")
set(argosy_torch_advice "set Torch_DIR to the folder of its TorchConfig.cmake, CMAKE_PREFIX_PATH to what Python's torch.utils.cmake_prefix_path says, or Python_EXECUTABLE to a Python that has it")
set(argosy_log_level "${CMAKE_MESSAGE_LOG_LEVEL}")
set(CMAKE_MESSAGE_LOG_LEVEL ERROR)  # the wheel's own files warn of a static library that nobody here needs
find_package(Torch QUIET)
if(NOT Torch_FOUND)
  find_package(Python 3.11 QUIET COMPONENTS Interpreter)
  if(Python_Interpreter_FOUND)
    execute_process(COMMAND "${Python_EXECUTABLE}" -c "import torch; print(torch.utils.cmake_prefix_path)"
                    OUTPUT_VARIABLE argosy_torch_prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(argosy_torch_prefix)
      find_package(Torch QUIET PATHS "${argosy_torch_prefix}/Torch" NO_DEFAULT_PATH)
    endif()
  endif()
endif()
set(CMAKE_MESSAGE_LOG_LEVEL "${argosy_log_level}")

if(NOT Torch_FOUND)
  set(argosy_torch_error "torch ${argosy_torch_exactly} was not found: ${argosy_torch_advice}")
elseif(argosy_torch_exactly AND NOT Torch_VERSION VERSION_EQUAL argosy_torch_exactly)
  set(argosy_torch_error "torch ${Torch_VERSION} was found (${Torch_DIR}), and this argosy was built with torch ${argosy_torch_exactly}, which it needs: ${argosy_torch_advice}")
elseif(Torch_VERSION VERSION_LESS 2.11)
  set(argosy_torch_error "torch ${Torch_VERSION} was found (${Torch_DIR}), and argosy needs 2.11 or later: ${argosy_torch_advice}")
else()
  get_filename_component(ARGOSY_TORCH_LIB "${TORCH_LIBRARY}" DIRECTORY)
  if(NOT TARGET argosy_torch)
    add_library(argosy_torch INTERFACE IMPORTED GLOBAL)
    foreach(dir ${TORCH_INCLUDE_DIRS})
      target_compile_options(argosy_torch INTERFACE "SHELL:-idirafter ${dir}")
    endforeach()
    target_link_libraries(argosy_torch INTERFACE $<LINK_ONLY:torch> $<LINK_ONLY:torch_cpu> $<LINK_ONLY:c10>)
    target_compile_definitions(argosy_torch INTERFACE $<TARGET_PROPERTY:torch,INTERFACE_COMPILE_DEFINITIONS>)
    target_compile_options(argosy_torch INTERFACE $<TARGET_PROPERTY:torch,INTERFACE_COMPILE_OPTIONS>)
    target_include_directories(argosy_torch INTERFACE  # CUDA's
      $<FILTER:$<TARGET_PROPERTY:torch,INTERFACE_INCLUDE_DIRECTORIES>,EXCLUDE,/torch/include>)
  endif()
endif()
