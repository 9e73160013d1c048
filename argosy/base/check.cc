#include "argosy/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace argosy {

void check_failed(const char* file, int line, const char* condition, std::string_view message) {
  std::fprintf(stderr, "%s:%d: check failed: %s %.*s\nThis is a bug in Argosy; please report it with this line.\n", file, line,
               condition, static_cast<int>(message.size()), message.data());
  std::abort();
}

}  // namespace argosy
