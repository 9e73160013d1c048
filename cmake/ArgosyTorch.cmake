# libtorch from the Python wheel, as the target argosy_torch.
#
# The wheel ships old copies of protobuf, fmt and pybind11 under torch/include; its folders therefore come after all others
# (-idirafter), so that Debian's headers win.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND "${Python_EXECUTABLE}" -c "import torch, pathlib; print(torch.utils.cmake_prefix_path); print(pathlib.Path(torch.__file__).parent)"
                OUTPUT_VARIABLE torch_paths OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" torch_paths "${torch_paths}")
list(GET torch_paths 0 torch_prefix)
list(GET torch_paths 1 ARGOSY_TORCH_ROOT)
list(APPEND CMAKE_PREFIX_PATH "${torch_prefix}")
find_package(Torch 2.11 REQUIRED)
foreach(lib torch torch_library torch_cpu c10)
  if(TARGET ${lib})
    set_target_properties(${lib} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "")
  endif()
endforeach()

add_library(argosy_torch INTERFACE)
foreach(dir ${TORCH_INCLUDE_DIRS})
  target_compile_options(argosy_torch INTERFACE "SHELL:-idirafter ${dir}")
endforeach()
target_link_libraries(argosy_torch INTERFACE torch torch_cpu c10)
set(ARGOSY_TORCH_LIB "${ARGOSY_TORCH_ROOT}/lib")
