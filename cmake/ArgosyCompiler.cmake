# Flags that every target shares, and the compiler cache.
add_library(argosy_flags INTERFACE)
target_include_directories(argosy_flags INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>")
target_compile_options(argosy_flags INTERFACE -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -fno-math-errno -fno-trapping-math)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(argosy_flags INTERFACE -Wthread-safety)
endif()
if(ARGOSY_WERROR)
  target_compile_options(argosy_flags INTERFACE -Werror)
endif()
if(ARGOSY_SANITIZE)
  target_compile_options(argosy_flags INTERFACE -fsanitize=${ARGOSY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(argosy_flags INTERFACE -fsanitize=${ARGOSY_SANITIZE})
endif()
if(ARGOSY_FUZZ)
  # Coverage feedback in the rooms; libFuzzer's main comes with each fuzzer's own link.
  target_compile_options(argosy_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(argosy_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(ARGOSY_CCACHE ccache)
if(ARGOSY_CCACHE)
  # The sloppiness lets ccache store what is built with a precompiled header; the base folder lets two checkouts share.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime "${ARGOSY_CCACHE}")
endif()
