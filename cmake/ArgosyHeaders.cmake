# argosy_check_headers(ROOM [TORCH])
#
# Adds an object library ROOM_headers that compiles every header of the current folder alone, included twice so that a
# missing guard shows. Not part of the default build: `make lint` builds them all, under the target argosy_headers. TORCH rooms
# use the one precompiled torch header, which hides a missing include of what is in it.
add_custom_target(argosy_headers)

function(argosy_check_headers room)
  cmake_parse_arguments(arg "TORCH" "" "" ${ARGN})
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/*.h")
  if(NOT headers)
    return()
  endif()
  set(sources)
  foreach(header ${headers})
    set(source "${PROJECT_BINARY_DIR}/headers/${header}.cc")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
    list(APPEND sources "${source}")
  endforeach()
  add_library(${room}_headers OBJECT EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(${room}_headers PRIVATE argosy_${room})
  if(arg_TORCH)
    argosy_use_torch(${room}_headers)
  endif()
  add_dependencies(argosy_headers ${room}_headers)
endfunction()
