#include "argosy/ps/server/replica_record.h"

#include <fmt/format.h>

#include <system_error>

#include "argosy/base/file.h"
#include "argosy/base/run_record.h"
#include "argosy/base/text.h"

namespace argosy::ps {
namespace fs = std::filesystem;

Result<std::optional<ReplicaRecord>> read_replica_record(const fs::path& folder) {
  const fs::path path = folder / kRoleFile;
  const auto text = read_file(path);
  if (text.status().code() == Code::not_found) return std::optional<ReplicaRecord>();
  if (!text.ok()) return text.status();
  ReplicaRecord record;
  std::string role;
  for (const std::string& line : split(*text, '\n')) {
    const size_t space = line.find(' ');
    if (space == std::string::npos) continue;
    const std::string name = line.substr(0, space), value = line.substr(space + 1);
    if (name == "epoch") record.epoch = static_cast<uint64_t>(parse_integer(value).value_or(0));
    if (name == "role") role = value;
    if (name == "whole") record.whole = value == "yes";
    if (name == "launch") record.launch = value;
  }
  if (record.epoch == 0 || (role != "primary" && role != "follower")) {
    return Status::data_loss(
        "'{}' does not say which epoch and role it is of; found '{}'. Remove it where what lies beside it is known "
        "to be the newest, or the folder where it is not",
        path.string(), *text);
  }
  record.primary = role == "primary";
  return std::optional<ReplicaRecord>(std::move(record));
}

Status write_replica_record(const fs::path& folder, const ReplicaRecord& record) {
  RETURN_IF_ERROR(make_folder(folder));
  return write_file_atomically(folder / kRoleFile,
                               fmt::format("epoch {}\nrole {}\nwhole {}\nlaunch {}\n", record.epoch,
                                           record.primary ? "primary" : "follower", record.whole ? "yes" : "no", record.launch));
}

Status leave_behind(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return {};
  const fs::path left = unused_name(folder.string() + ".left");
  fs::rename(folder, left, error);
  if (error) return Status::unavailable("cannot give '{}' the name '{}': {}", folder.string(), left.string(), error.message());
  return {};
}

}  // namespace argosy::ps
