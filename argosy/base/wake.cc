#include "argosy/base/wake.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "argosy/base/check.h"

namespace argosy {

Wake::Wake() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { ARGOSY_CHECK(event_.open(), "no descriptor for an event"); }

void Wake::wake() const {
  const int before = errno;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);
  errno = before;
}

void Wake::clear() const {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(event_.get(), &count, sizeof count);
}

}  // namespace argosy
