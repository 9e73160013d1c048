#include "argosy/base/temporary.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <vector>

#include "argosy/base/folder_lock.h"
#include "argosy/base/log.h"
#include "argosy/base/notice.h"
#include "argosy/base/system_error.h"

namespace argosy {
namespace fs = std::filesystem;
namespace {

constexpr int kTries = 16;  // a name is taken only by a process before this one, or lost to somebody who cleans up

const std::string& host_name() {
  static const std::string& name = *new std::string([] {
    char host[256] = "";
    return std::string(::gethostname(host, sizeof(host) - 1) == 0 && host[0] != '\0' ? host : "localhost");
  }());
  return name;
}

constexpr double kLockSeconds = 10;  // then what seems abandoned stays, and a new one is made without the lock

constexpr std::string_view kMark = ".saving-";

std::string mark() { return fmt::format("{}{}-", kMark, host_name()); }

fs::path temporary_name(const fs::path& target) {
  static std::atomic<int> counter{0};
  return target.parent_path() / fmt::format(".{}{}{}-{}", target.filename().string(), mark(), ::getpid(), counter++);
}

// Whether a name is one of a temporary of this machine. Locks say nothing of other machines that share the folder.
bool is_temporary_name(const std::string& name) {
  const size_t at = name.rfind(mark());
  if (!name.starts_with('.') || at == std::string::npos || at < 2) return false;
  const std::string numbers = name.substr(at + mark().size());
  return std::ranges::count(numbers, '-') == 1 && numbers.front() != '-' && numbers.back() != '-' &&
         std::ranges::all_of(numbers, [](char c) { return c == '-' || std::isdigit(static_cast<unsigned char>(c)); });
}

bool same_file(int fd, const fs::path& path) {
  struct stat open_one = {}, named = {};
  return ::fstat(fd, &open_one) == 0 && ::lstat(path.c_str(), &named) == 0 && open_one.st_ino == named.st_ino &&
         open_one.st_dev == named.st_dev;
}

fs::path parent_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

// The holder of the lock may write, or remove it. REQUIRES: lock_folder(): a temporary has no lock for a moment, when it is new
// and when it has changed places with a folder.
void remove_if_abandoned(const fs::path& path) {
  constexpr int how = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  Fd fd(::open(path.c_str(), O_RDWR | how));
  if (!fd.open() && errno == EISDIR) fd = Fd(::open(path.c_str(), O_RDONLY | how));
  if (!fd.open() || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 || !same_file(fd.get(), path)) return;
  std::error_code error;
  fs::remove_all(path, error);
  if (error)
    log_warning("'{}', which a killed process has left, cannot be removed: {}", path.string(), error.message());
  else
    log_info("removed '{}', which a killed process had left", path.string());
}

}  // namespace

bool has_temporary_name(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') && name.find(kMark) > 1 && name.find(kMark) != std::string::npos;
}

namespace {

// A folder that is a temporary itself is locked by its maker already, who would wait for itself; nobody else makes anything in
// it.
Result<Fd> lock_to_make_in(const fs::path& folder) {
  return has_temporary_name(folder) ? Result<Fd>(Fd()) : lock_folder(folder, Deadline::after_seconds(kLockSeconds));
}

// REQUIRES: lock_folder().
void remove_abandoned_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (is_temporary_name(entry->path().filename().string())) found.push_back(entry->path());
  }
  for (const fs::path& path : found) remove_if_abandoned(path);
}

}  // namespace

void remove_abandoned_temporaries(const fs::path& folder) {
  if (const auto lock = lock_to_make_in(folder); lock.ok()) remove_abandoned_in(folder);
}

Temporary::~Temporary() {
  std::error_code ignored;  // what cannot be removed is left under a name that says what it is
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<Temporary> Temporary::folder(const fs::path& target) { return make(target, true); }
Result<Temporary> Temporary::file(const fs::path& target) { return make(target, false); }

Result<Temporary> Temporary::make(const fs::path& target, bool folder) {
  const auto lock = lock_to_make_in(parent_of(target));
  if (lock.ok()) remove_abandoned_in(parent_of(target));
  std::error_code unknown;
  notice_writing(fs::absolute(parent_of(target), unknown).string());
  for (int tries = 0; tries < kTries; ++tries) {
    const fs::path path = temporary_name(target);
    if (folder && ::mkdir(path.c_str(), 0777) != 0) {
      if (errno == EEXIST) continue;
      return system_error("cannot create folder", path);
    }
    Fd fd(::open(path.c_str(), (folder ? O_RDONLY | O_DIRECTORY : O_WRONLY | O_CREAT | O_EXCL) | O_CLOEXEC, 0666));
    // A folder may be gone again, taken for abandoned before it was locked; a file that is not found has no parent.
    const bool again = errno == EEXIST || (folder && errno == ENOENT);
    if (!fd.open() && !again) return system_error("cannot create", path);
    // Where there are no locks nobody removes anything either. A lock that somebody has is his who takes this one for abandoned.
    const bool mine = fd.open() && (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK);
    if (mine && same_file(fd.get(), path)) return Temporary(path, std::move(fd));
  }
  return Status::unavailable("no temporary name beside '{}' could be had in {} tries", target.string(), kTries);
}

}  // namespace argosy
