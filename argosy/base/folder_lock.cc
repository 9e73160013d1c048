#include "argosy/base/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "argosy/base/wait_check.h"

namespace argosy {

Result<Fd> lock_folder(const std::filesystem::path& folder, const Deadline& deadline) {
  constexpr double kBetweenTries = 0.002;  // seconds; locks of files have no wait with a deadline
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (fd.open() && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return Fd();
    if (deadline.passed()) {
      return Status::unavailable(
          "'{}' is locked by another process that saves there, and does not get on; look at its disk, or save into another "
          "folder",
          folder.string());
    }
    if (!pause_unless_cancelled(kBetweenTries, deadline))
      return Status::cancelled("the wait for another process that saves in '{}' was ended", folder.string());
  }
  return fd;
}

}  // namespace argosy
