# What is made from the operators' entries (argosy/engine/ops/*.cc) at build time, by tools/argosy_ops.cc, which holds the engine:
#   argosy/engine/ops/layers.h   the layer functions for C++, in the build folder, found as <argosy/engine/ops/layers.h>
#   generated/layers.pyi         their stub, which argosy_stubs takes into the extension's
#   generated/layers.md          their page of the reference, which is installed as share/doc/argosy/layers.md
#
# Targets that include the header say argosy_use_functions(TARGET…).
add_executable(argosy_ops "${PROJECT_SOURCE_DIR}/tools/argosy_ops.cc")
target_link_libraries(argosy_ops PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,argosy_engine> argosy_torch)
set_property(TARGET argosy_ops APPEND PROPERTY BUILD_RPATH "${ARGOSY_TORCH_LIB}")

set(argosy_layers_header "${PROJECT_BINARY_DIR}/argosy/engine/ops/layers.h" CACHE INTERNAL "")
set(argosy_layers_stub "${PROJECT_BINARY_DIR}/generated/layers.pyi" CACHE INTERNAL "")
set(argosy_layers_page "${PROJECT_BINARY_DIR}/generated/layers.md" CACHE INTERNAL "")
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/argosy/engine/ops" "${PROJECT_BINARY_DIR}/generated")
add_custom_command(
  OUTPUT "${argosy_layers_header}" "${argosy_layers_stub}" "${argosy_layers_page}"
  COMMAND argosy_ops header "${argosy_layers_header}"
  COMMAND argosy_ops stub "${argosy_layers_stub}"
  COMMAND argosy_ops reference "${argosy_layers_page}"
  DEPENDS argosy_ops COMMENT "Writing the layer functions" VERBATIM)
add_custom_target(argosy_functions DEPENDS "${argosy_layers_header}")

# What includes the header, where there is such a target: it is compiled after the header is made.
function(argosy_use_functions)
  foreach(target ${ARGN})
    if(TARGET ${target})
      add_dependencies(${target} argosy_functions)
    endif()
  endforeach()
endfunction()
