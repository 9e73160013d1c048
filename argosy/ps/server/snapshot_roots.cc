#include "argosy/ps/server/snapshot_roots.h"

#include <algorithm>

#include "argosy/base/text.h"
#include "argosy/base/uri.h"

namespace argosy::ps {
namespace fs = std::filesystem;
namespace {

Result<fs::path> resolved(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  fs::path clean = error ? fs::path() : fs::weakly_canonical(absolute, error);
  if (error) return Status::invalid_argument("'{}' cannot be resolved: {}", path.string(), error.message());
  if (!clean.has_filename()) clean = clean.parent_path();
  return clean;
}

// Where `path` lies below `root`; empty: it does not.
fs::path below(const fs::path& root, const fs::path& path) {
  const auto [end, rest] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  if (end != root.end()) return {};
  fs::path tail;
  for (auto part = rest; part != path.end(); ++part) tail /= *part;
  return tail;
}

}  // namespace

SnapshotRoots::SnapshotRoots(std::vector<fs::path> roots, fs::path directory) {
  if (roots.empty()) {
    std::error_code ignored;  // without a working directory nothing lies below it
    roots.push_back(fs::current_path(ignored));
    roots.push_back(directory);
  }
  for (const fs::path& root : roots) {
    if (auto path = resolved(root); !root.empty() && path.ok()) roots_.push_back(std::move(*path));
  }
  if (auto path = resolved(directory); !directory.empty() && path.ok()) own_ = std::move(*path);
}

Result<fs::path> SnapshotRoots::resolve(const std::string& folder) const {
  if (folder.empty() || folder.back() == '/' || folder.find('\0') != std::string::npos) {
    return Status::invalid_argument("'{}' cannot be the folder of a snapshot", folder);
  }
  if (is_uri(folder))
    return Status::invalid_argument(
        "'{}': servers write and read snapshots on disks; save_persistables() and init_server() take the URI of a folder",
        folder);
  ASSIGN_OR_RETURN(const fs::path path, resolved(folder));
  if (std::ranges::none_of(roots_, [&](const fs::path& root) { return !below(root, path).empty(); })) {
    std::vector<std::string> names;
    for (const fs::path& root : roots_) names.push_back(fmt::format("'{}'", root.string()));
    return Status::permission_denied(
        "'{}' is {}, which is not below a folder where this server may write snapshots: {}. The setting snapshot_roots "
        "(ARGOSY_SNAPSHOT_ROOTS) names others",
        folder, path.string(), join(names, ", "));
  }
  const fs::path tail = own_.empty() ? fs::path() : below(own_.parent_path(), path);
  if (std::distance(tail.begin(), tail.end()) < 2) return path;
  const std::string server = tail.begin()->string(), what = std::next(tail.begin())->string();
  if (server != own_.filename() && !server.starts_with("server-")) return path;
  if (what != "log" && what != "snapshots" && what != "cold") return path;
  return Status::permission_denied("'{}' lies in what a server keeps for itself, {}; choose another folder", folder,
                                   (own_.parent_path() / server / what).string());
}

}  // namespace argosy::ps
