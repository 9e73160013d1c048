# libtorch as the target argosy_torch: the one of Torch_DIR or CMAKE_PREFIX_PATH, or else the wheel of the Python that CMake
# finds. Used by this build and, installed beside argosyConfig.cmake, by the projects that use argosy.
#
# The wheel ships old copies of protobuf, fmt and pybind11 under torch/include; its folders therefore come after all others
# (-idirafter), so that the system's headers win.
set(argosy_log_level "${CMAKE_MESSAGE_LOG_LEVEL}")
set(CMAKE_MESSAGE_LOG_LEVEL ERROR)  # the wheel's own files warn of a static library that nobody here needs
find_package(Torch 2.11 QUIET)
if(NOT Torch_FOUND)
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
  execute_process(COMMAND "${Python_EXECUTABLE}" -c "import torch; print(torch.utils.cmake_prefix_path)"
                  OUTPUT_VARIABLE argosy_torch_prefix OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  find_package(Torch 2.11 REQUIRED PATHS "${argosy_torch_prefix}/Torch" NO_DEFAULT_PATH)
endif()
set(CMAKE_MESSAGE_LOG_LEVEL "${argosy_log_level}")
foreach(lib torch torch_library torch_cpu torch_cpu_library torch_cuda torch_cuda_library c10 c10_cuda)
  if(TARGET ${lib})
    get_target_property(dirs ${lib} INTERFACE_INCLUDE_DIRECTORIES)
    list(FILTER dirs EXCLUDE REGEX "/torch/include")  # CUDA's own stay
    list(REMOVE_ITEM dirs dirs-NOTFOUND)
    set_target_properties(${lib} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${dirs}")
  endif()
endforeach()

get_filename_component(ARGOSY_TORCH_LIB "${TORCH_LIBRARY}" DIRECTORY)
if(NOT TARGET argosy_torch)
  add_library(argosy_torch INTERFACE IMPORTED GLOBAL)
  foreach(dir ${TORCH_INCLUDE_DIRS})
    target_compile_options(argosy_torch INTERFACE "SHELL:-idirafter ${dir}")
  endforeach()
  target_link_libraries(argosy_torch INTERFACE torch torch_cpu c10)
endif()
