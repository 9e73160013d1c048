#include "argosy/data/working_folder.h"

#include <utility>

#include "argosy/base/file.h"
#include "argosy/data/object_folder.h"
#include "argosy/data/object_store.h"

namespace argosy::data {
namespace fs = std::filesystem;

WorkingFolder::WorkingFolder(FolderPlace place) : place_(std::move(place)), path_(place_.path) {}

Result<WorkingFolder> WorkingFolder::for_writing(const FolderPlace& place) {
  RETURN_IF_ERROR(place.check());
  WorkingFolder folder(place);
  if (!place.remote()) return folder;
  auto temporary = Temporary::folder(fs::temp_directory_path() / "argosy-store");
  if (!temporary.ok()) return temporary.status().with_context("a folder for a copy of the store's");
  folder.temporary_.emplace(std::move(*temporary));
  std::error_code error;
  fs::permissions(folder.temporary_->path(), fs::perms::owner_all, error);
  if (error) return Status::unavailable("'{}': {}", folder.temporary_->path().string(), error.message());
  folder.path_ = folder.temporary_->path() / "copy";
  return folder;
}

Result<WorkingFolder> WorkingFolder::for_reading(const FolderPlace& place) {
  ASSIGN_OR_RETURN(WorkingFolder folder, for_writing(place));
  if (place.in_object_store())
    RETURN_IF_ERROR(fetch_folder(place.path, folder.path_));
  else if (place.remote())
    RETURN_IF_ERROR(run_store_command(place.store, {"-get", place.path, folder.path_.string()}));
  return folder;
}

Status WorkingFolder::publish(uint64_t mark) const {
  if (!temporary_) return {};
  if (place_.in_object_store()) return publish_folder(path_, place_.path, mark);
  std::string target = place_.path;
  while (target.size() > 1 && target.back() == '/') target.pop_back();
  const std::string beside = target + ".saving";
  const auto run = [this](const std::vector<std::string>& order) { return run_store_command(place_.store, order); };
  if (const size_t slash = target.rfind('/'); slash != std::string::npos && slash > 0)
    RETURN_IF_ERROR(run({"-mkdir", "-p", target.substr(0, slash)}));
  RETURN_IF_ERROR(run({"-rm", "-r", "-f", beside}));
  RETURN_IF_ERROR(run({"-put", path_.string(), beside}));
  RETURN_IF_ERROR(run({"-rm", "-r", "-f", target}));
  return run({"-mv", beside, target}).with_context("all of it is in '{}' and has to be renamed", beside);
}

Result<std::string> read_place(const std::string& path) {
  RETURN_IF_ERROR(FolderPlace(path).check());
  return is_store_uri(path) ? read_object(path) : read_file(local_path(path));
}

Status check_file_place(const std::string& path) {
  RETURN_IF_ERROR(FolderPlace(path).check());
  if (is_store_uri(path) || !is_remote_path(path)) return {};
  return Status::unimplemented(
      "'{}' is for the command of ARGOSY_FS_COMMAND, which takes folders and no single files; name a file of this machine or of "
      "an "
      "object store (s3://…)",
      path);
}

Status write_place(const std::string& path, std::string_view bytes) {
  RETURN_IF_ERROR(check_file_place(path));
  return is_store_uri(path) ? put_object(path, bytes) : write_file_atomically(local_path(path), bytes);
}

std::optional<uint64_t> place_mark(const FolderPlace& place) {
  if (!place.remote()) return folder_mark(place.path);
  if (!place.in_object_store()) return std::nullopt;
  const auto manifest = read_manifest(place.path);
  return manifest.ok() && *manifest && (*manifest)->mark != 0 ? std::optional((*manifest)->mark) : std::nullopt;
}

}  // namespace argosy::data
