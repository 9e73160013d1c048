#pragma once

#include <string_view>

namespace argosy {

// Prints where and what, then aborts. For our own mistakes only: nothing that a user, a file or a peer can cause.
[[noreturn]] void check_failed(const char* file, int line, const char* condition, std::string_view message);

}  // namespace argosy

#define ARGOSY_CHECK(condition, ...)                                                           \
  do {                                                                                         \
    if (!(condition)) [[unlikely]] {                                                           \
      ::argosy::check_failed(__FILE__, __LINE__, #condition, ::std::string_view{__VA_ARGS__}); \
    }                                                                                          \
  } while (false)
