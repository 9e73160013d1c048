#pragma once

#include <filesystem>
#include <optional>

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
  // whole. Nothing to do for a local place.
  Status publish() const;

 private:
  explicit WorkingFolder(FolderPlace place);

  FolderPlace place_;
  std::optional<Temporary> temporary_;  // nothing for a local place
  std::filesystem::path path_;
};

}  // namespace argosy::data
