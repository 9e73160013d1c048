#pragma once

#include <filesystem>
#include <utility>

#include "argosy/base/fd.h"
#include "argosy/base/status.h"

namespace argosy {

// A file or folder that is being written beside the one whose place it will take, under a name that says so:
// .NAME.saving-HOST-PROCESS-NUMBER. It is locked for as long as the object lives, so that what a killed process has left is told
// from what a live one still writes. Making one removes what killed processes of this machine have left in the same folder.
//
// Movable; thread-compatible.
class Temporary {
 public:
  // Makes it, empty, beside `target`; its parent exists.
  static Result<Temporary> folder(const std::filesystem::path& target);
  static Result<Temporary> file(const std::filesystem::path& target);

  Temporary(Temporary&& other) noexcept : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary();  // removes it with all that is in it, where it has not been renamed

  const std::filesystem::path& path() const { return path_; }
  int fd() const { return lock_.get(); }  // of a file: open for writing

  // Whatever has its name is not this one's any more.
  void renamed() { path_.clear(); }

 private:
  Temporary(std::filesystem::path path, Fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  static Result<Temporary> make(const std::filesystem::path& target, bool folder);

  std::filesystem::path path_;
  Fd lock_;
};

// Whether a path's last name is that of a temporary, of any machine.
bool has_temporary_name(const std::filesystem::path& path);

// Removes what killed processes of this machine have left in `folder`. What cannot be removed stays.
void remove_abandoned_temporaries(const std::filesystem::path& folder);

}  // namespace argosy
