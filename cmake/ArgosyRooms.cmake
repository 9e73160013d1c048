# argosy_room(NAME [USES rooms…] [LINKS targets…] [TORCH] [UNITE] [ONLY files…] [WITHOUT files…] [NO_TESTS] [TESTS_ONLY] [PROGRAMS_ONLY]
#             [TEST_USES rooms…] [TESTS_WITHOUT_TSAN files…])
#
# One folder, one static library: every .cc of the folder but tests and benchmarks. Tests (x_test.cc) make one program per
# room, NAME_test; benchmarks (x_bench.cc) one program per room, NAME_bench, where Google Benchmark is installed. A TESTS_ONLY
# room is for the TEST_USES of others and goes into no library or program, a PROGRAMS_ONLY room into programs that name it and
# into no library. TESTS_WITHOUT_TSAN run through libraries that are
# not built for ThreadSanitizer, where it takes their locks for none. ONLY these files (x for x.h and x.cc, without tests) are
# the room in a build that leaves other rooms out; WITHOUT these (folder/x for its x.h, x.cc and x_test.cc) it is built there as well.
# UNITE: see argosy_unite.
function(argosy_room name)
  cmake_parse_arguments(room "TORCH;UNITE;NO_TESTS;TESTS_ONLY;PROGRAMS_ONLY" "" "USES;LINKS;ONLY;WITHOUT;TEST_USES;TESTS_WITHOUT_TSAN" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  foreach(left_out ${room_WITHOUT})
    list(FILTER sources EXCLUDE REGEX "/${left_out}(_test)?\\.cc$")
  endforeach()
  set(tests ${sources})
  set(benches ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz)\\.cc$")
  if(room_ONLY OR room_NO_TESTS)
    set(tests)
    set(benches)
  endif()
  if(room_ONLY)
    list(JOIN room_ONLY "|" only)
    list(FILTER sources INCLUDE REGEX "/(${only})\\.cc$")
  endif()
  if(ARGOSY_SANITIZE MATCHES thread)
    list(TRANSFORM room_TESTS_WITHOUT_TSAN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
    list(REMOVE_ITEM tests ${room_TESTS_WITHOUT_TSAN})
  endif()

  argosy_plant(${sources})
  add_library(argosy_${name} STATIC ${sources})
  target_link_libraries(argosy_${name} PUBLIC argosy_flags ${room_LINKS})
  foreach(used ${room_USES})
    target_link_libraries(argosy_${name} PUBLIC argosy_${used})
  endforeach()
  if(room_TORCH)
    argosy_use_torch(argosy_${name})
  endif()
  if(room_UNITE)
    argosy_unite(argosy_${name})
  endif()
  if(NOT room_TESTS_ONLY AND NOT room_PROGRAMS_ONLY)
    set_property(GLOBAL APPEND PROPERTY ARGOSY_ROOMS ${name})
  endif()
  if(room_TORCH)
    set(torch TORCH)
  endif()
  if(NOT room_ONLY)
    argosy_check_headers(${name} ${torch})
  endif()

  if(ARGOSY_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,argosy_${name}> GTest::gmock GTest::gtest_main)
    foreach(used ${room_TEST_USES})
      target_link_libraries(${name}_test PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,argosy_${used}>)
    endforeach()
    if(room_TORCH)
      argosy_use_torch(${name}_test)
    else()
      # A test is compiled as often as it is run: a third of the time, while the room that it tests stays as it is. Not with
      # torch's precompiled header, which is for one level.
      target_compile_options(${name}_test PRIVATE -O0)
    endif()
    if(room_UNITE AND room_TORCH)
      argosy_unite(${name}_test)
    endif()
    include(GoogleTest)
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
                         PROPERTIES TIMEOUT 120 LABELS "unit;${name}")
  endif()
  if(ARGOSY_TESTS AND benches AND TARGET benchmark::benchmark)
    add_executable(${name}_bench EXCLUDE_FROM_ALL ${benches})
    target_link_libraries(${name}_bench PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,argosy_${name}> benchmark::benchmark_main)
    foreach(used ${room_TEST_USES})
      target_link_libraries(${name}_bench PRIVATE argosy_${used})
    endforeach()
    if(room_TORCH)
      argosy_use_torch(${name}_bench)
    endif()
  endif()
endfunction()

# argosy_plant(FILES…): in the preset `planted`, turns on the planted bugs of the files that have some (argosy/base/plant.h). The others are
# compiled as ever, and come from ccache.
function(argosy_plant)
  if(NOT ARGOSY_PLANT)
    return()
  endif()
  foreach(source ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(STRINGS "${source}" points REGEX "ARGOSY_PLANT")
    if(points)
      set_source_files_properties("${source}" PROPERTIES COMPILE_DEFINITIONS ARGOSY_PLANT_POINTS)
    endif()
  endforeach()
endfunction()

# Compiles several sources of a target at once where most of a source's compile time is that of the headers: half of it or more
# is saved. The sources of a target then share one anonymous namespace: names in it are unique among them.
function(argosy_unite target)
  if(ARGOSY_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6 UNITY_BUILD_RELOCATABLE ON)
  endif()
endfunction()

# argosy_proto(ROOM FILE): the code that protoc makes of argosy/ROOM/FILE.proto (FILE may be in a folder), seen by the room and its tests only.
function(argosy_proto room file)
  set(wire "${CMAKE_CURRENT_BINARY_DIR}/wire")
  set(made "${wire}/argosy/${room}/${file}.pb")
  get_filename_component(folder "${made}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  add_custom_command(
    OUTPUT "${made}.cc" "${made}.h"
    COMMAND "${ARGOSY_PROTOC}" "--proto_path=${PROJECT_SOURCE_DIR}" "--cpp_out=${wire}" "argosy/${room}/${file}.proto"
    DEPENDS "${file}.proto"
    VERBATIM)
  set_source_files_properties("${made}.cc" PROPERTIES COMPILE_OPTIONS -w)
  target_sources(argosy_${room} PRIVATE "${made}.cc")
  add_custom_target(${room}_messages DEPENDS "${made}.h")
  if(TARGET ${room}_headers)
    add_dependencies(${room}_headers ${room}_messages)
  endif()
  foreach(user argosy_${room} ${room}_test ${room}_bench ${room}_headers)
    if(TARGET ${user})
      target_include_directories(${user} SYSTEM PRIVATE "${wire}")
    endif()
  endforeach()
endfunction()

# The one precompiled torch header. Its place in the build is part of what ccache compares, and the same whichever rooms are built.
if(ARGOSY_TORCH)
  add_library(argosy_torch_pch OBJECT "${PROJECT_SOURCE_DIR}/cmake/torch_pch.cc")
  target_link_libraries(argosy_torch_pch PRIVATE argosy_flags argosy_torch)
  target_compile_options(argosy_torch_pch PRIVATE -fpch-preprocess)
  target_precompile_headers(argosy_torch_pch PRIVATE "${PROJECT_SOURCE_DIR}/cmake/torch_pch.h")
endif()

# Links libtorch and takes the one precompiled torch header.
function(argosy_use_torch target)
  target_link_libraries(${target} PRIVATE argosy_torch)
  set_property(TARGET ${target} APPEND PROPERTY BUILD_RPATH "${ARGOSY_TORCH_LIB}")
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)
    # CMake gives programs -fPIE, with which GCC refuses a header that was precompiled with -fPIC.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_compile_options(${target} PRIVATE -fpch-preprocess)
  target_precompile_headers(${target} REUSE_FROM argosy_torch_pch)
endfunction()
