#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "argosy/base/status.h"
#include "argosy/base/temporary.h"
#include "argosy/data/remote_store.h"

namespace argosy::data {

// A place as a folder of this machine: itself, or where it is remote a copy, which goes with the object. Thread-compatible.
class WorkingFolder {
 public:
  static Result<WorkingFolder> for_reading(const FolderPlace& place);  // with all that is there
  static Result<WorkingFolder> for_writing(const FolderPlace& place);  // an empty one where the place is remote

  const std::filesystem::path& path() const { return path_; }

  // After writing: puts a copy into the store, beside the place, and then into its place; what was there is replaced as a
  // whole, in an object store file by file, with `mark` (object_folder.h). Nothing to do for a local place.
  Status publish(uint64_t mark = 0) const;

 private:
  explicit WorkingFolder(FolderPlace place);

  FolderPlace place_;
  std::optional<Temporary> temporary_;  // nothing for a local place
  std::filesystem::path path_;
};

// The bytes of a file of this machine or of an object; and the whole of it, or nothing, in place of what was there.
Result<std::string> read_place(const std::string& path);
Status write_place(const std::string& path, std::string_view bytes);
// Whether a single file can be written there: on this machine or as an object, and not by way of a command.
Status check_file_place(const std::string& path);

// What publish() or FolderWriter::set_mark() gave the folder that is there; nothing where it gave none, or nobody can tell.
std::optional<uint64_t> place_mark(const FolderPlace& place);

}  // namespace argosy::data
