#pragma once

#include <cstdint>
#include <string>

#include "argosy/base/fd.h"
#include "argosy/base/status.h"

namespace argosy::launch {

// Opens a log with these flags of open(2), and makes it and its folder where there are none. An error of a log names it, the
// system's reason and what to do.
Result<Fd> open_log(const std::string& path, int flags);
// Makes the file empty, and its folder where there is none.
Status begin_log(const std::string& path);
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
