# Debian's libraries, found before torch, whose CMake files shadow some of them.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(fmt REQUIRED IMPORTED_TARGET fmt)
pkg_check_modules(spdlog REQUIRED IMPORTED_TARGET spdlog)
pkg_check_modules(protobuf REQUIRED IMPORTED_TARGET protobuf)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
find_program(ARGOSY_PROTOC protoc REQUIRED)
if(ARGOSY_TESTS)
  find_package(GTest REQUIRED)
  find_package(benchmark QUIET)  # without it there are no NAME_bench programs
endif()
