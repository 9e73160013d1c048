#include "argosy/data/working_folder.h"

#include <utility>

namespace argosy::data {
namespace fs = std::filesystem;

WorkingFolder::WorkingFolder(FolderPlace place) : place_(std::move(place)), path_(place_.path) {}

Result<WorkingFolder> WorkingFolder::for_writing(const FolderPlace& place) {
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
  if (place.remote()) RETURN_IF_ERROR(run_store_command(place.store, {"-get", place.path, folder.path_.string()}));
  return folder;
}

Status WorkingFolder::publish() const {
  if (!temporary_) return {};
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

}  // namespace argosy::data
