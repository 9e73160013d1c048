#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "argosy/base/status.h"
#include "argosy/base/system_error.h"
#include "argosy/base/temporary.h"

namespace argosy {

// Makes the names in a folder survive a power cut: files that were created, renamed or removed in it.
Status sync_folder(const std::filesystem::path& folder);

// Makes a folder and those above it where they are missing, and their names survive a power cut.
Status make_folder(const std::filesystem::path& folder);

// The whole file. Errors name the path and the system's reason.
Result<std::string> read_file(const std::filesystem::path& path);

// The path with symbolic links at its end followed: what is replaced is the file or folder behind them, never the link.
std::filesystem::path behind_links(std::filesystem::path path);

// Writes a file so that a reader sees the old bytes or the new ones: a temporary name beside it (temporary.h), fsync, rename. A
// file that is replaced leaves its permissions to the new one.
Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

// A folder that appears whole or not at all: files are written under path(), commit() syncs them and renames the folder
// into place, replacing the one that was there. Without commit() the destructor removes what was written; what a process that
// is killed leaves, the next writer beside it removes (temporary.h).
//
// Where the target exists, its entries that this folder does not have are kept if `keep_others` is set: saving a model
// into a folder with other files must not delete those. A file in the target's place, or a folder in a file's, is an error and
// stays. The new folder has the permissions and, where the system allows it, the owner of the one that it replaces. A folder that
// this process works in is never replaced: with `keep_others` its files are, one by one; without, commit() fails.
class FolderWriter {
 public:
  static Result<FolderWriter> open(const std::filesystem::path& target, bool keep_others);

  const std::filesystem::path& path() const { return temporary_.path(); }
  Status write(const std::string& name, std::string_view bytes);
  Status write(const std::string& name, std::span<const std::string_view> parts);  // one after the other
  // Lets folder_mark() say `mark` of the folder from the moment that it has its name. Where the file system keeps no attributes
  // nothing happens.
  void set_mark(uint64_t mark);
  Status commit();

 private:
  FolderWriter(std::filesystem::path target, Temporary temporary, bool keep_others)
      : target_(std::move(target)), temporary_(std::move(temporary)), keep_others_(keep_others) {}
  bool is_worked_in() const;
  Status move_into_target();
  Status check_target() const;

  std::filesystem::path target_;
  Temporary temporary_;
  bool keep_others_;
};

// What set_mark() gave the folder; nothing where it gave none, or the file system kept none.
std::optional<uint64_t> folder_mark(const std::filesystem::path& folder);

}  // namespace argosy
