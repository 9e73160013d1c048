#include "argosy/fleet/util.h"

#include <algorithm>
#include <cstdio>

#include "argosy/base/error.h"

namespace argosy::fleet {

const RoleInfo& Util::role() const {
  if (!role_) throw Error(Status::failed_precondition("fleet.init() has not been called yet in this process"));
  return *role_;
}

const JobPeers& Util::peers() const {
  role();
  return *peers_;
}

std::vector<std::string> Util::get_file_shard(const std::vector<std::string>& files) const {
  if (!role_) return files;
  const auto workers = static_cast<size_t>(role().worker_count),
             index = static_cast<size_t>(worker_index_of(role(), "get_file_shard()"));
  const size_t each = files.size() / workers, more = files.size() % workers;
  const size_t begin = index * each + std::min(index, more);
  const size_t count = each + (index < more ? 1 : 0);
  return {files.begin() + static_cast<std::ptrdiff_t>(begin), files.begin() + static_cast<std::ptrdiff_t>(begin + count)};
}

std::optional<std::string> Util::next_file(const std::string& list, const std::vector<std::string>& files) const {
  const auto next = peers().next(list, files.size());
  return next ? std::optional(files[*next]) : std::nullopt;
}

void Util::barrier() const { peers().barrier(); }

std::vector<double> Util::all_reduce(std::vector<double> values, const std::string& mode) const {
  peers().all_reduce(values, mode);
  return values;
}

std::vector<int64_t> Util::all_reduce(std::vector<int64_t> values, const std::string& mode) const {
  peers().all_reduce(values, mode);
  return values;
}

std::vector<std::string> Util::all_gather(const std::string& bytes) const { return peers().all_gather(bytes); }

void Util::print_on_rank(const std::string& message, int rank) const {
  if (role().role != Role::worker || role().index != rank) return;
  std::fprintf(stdout, "%s\n", message.c_str());
  std::fflush(stdout);
}

}  // namespace argosy::fleet
