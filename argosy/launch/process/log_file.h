#pragma once

#include <cstdint>
#include <string>

#include "argosy/base/fd.h"
#include "argosy/base/status.h"

namespace argosy::launch {

// Opens a log with these flags of open(2), and makes it and its folder where there are none. An error of a log names it, the
// system's reason and what to do.
Result<Fd> open_log(const std::string& path, int flags);
// Makes the file new and empty, and its folder where there is none; what an earlier job has left there is set aside.
Status begin_log(const std::string& path);
// Moves a file that has something in it to the folder old/<date>, beside it, of this process. Of these folders the newest
// kOldLogs stay. Where it cannot be moved it stays too.
inline constexpr size_t kOldLogs = 5;
void set_aside(const std::string& path);
// Where a log has more than `most` bytes, moves them to <path>.1, which it replaces: what is written in that moment may be lost.
// Whether it did.
bool rotate_log(const std::string& path, int64_t most);
// Whether there is room for more lines in a log.
Status check_log(const std::string& path);

// The last lines of a file, at most `lines`, and no more than 64 KiB of it; empty where it cannot be read.
std::string tail(const std::string& path, int lines);

// Shows a file as it grows. Thread-compatible.
class LogFollower {
 public:
  explicit LogFollower(std::string path) : path_(std::move(path)) {}

  // Writes what has come since the last call to stdout.
  void show();

 private:
  const std::string path_;
  int64_t shown_ = 0;  // bytes
};

}  // namespace argosy::launch
