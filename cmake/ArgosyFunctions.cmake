# What is made from the operators' entries (argosy/engine/ops/*.cc) at build time, by tools/argosy_ops.cc, which holds the engine:
#   argosy/engine/ops/layers.h   the layer functions for C++, in the build folder, found as <argosy/engine/ops/layers.h>
#   generated/layers.pyi         their stub
#   generated/layers.md          their page of the reference
#
# Targets that include the header say argosy_use_functions(TARGET…).
add_executable(argosy_ops "${PROJECT_SOURCE_DIR}/tools/argosy_ops.cc")
target_link_libraries(argosy_ops PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,argosy_engine> argosy_torch)
set_property(TARGET argosy_ops APPEND PROPERTY BUILD_RPATH "${ARGOSY_TORCH_LIB}")

set(argosy_layers_header "${PROJECT_BINARY_DIR}/argosy/engine/ops/layers.h" CACHE INTERNAL "")
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/argosy/engine/ops" "${PROJECT_BINARY_DIR}/generated")
add_custom_command(
  OUTPUT "${argosy_layers_header}" "${PROJECT_BINARY_DIR}/generated/layers.pyi" "${PROJECT_BINARY_DIR}/generated/layers.md"
  COMMAND argosy_ops header "${argosy_layers_header}"
  COMMAND argosy_ops stub "${PROJECT_BINARY_DIR}/generated/layers.pyi"
  COMMAND argosy_ops reference "${PROJECT_BINARY_DIR}/generated/layers.md"
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
