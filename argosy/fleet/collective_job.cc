#include "argosy/fleet/collective_job.h"

#include <ATen/ATen.h>

#include <functional>

#include "argosy/base/error.h"
#include "argosy/observe/process_observer.h"

namespace argosy::fleet {
namespace {

using collective::DataParallel;
using collective::Group;
using collective::ReduceOp;

Result<ReduceOp> mode_of(const std::string& mode) {
  if (mode == "sum" || mode == "max" || mode == "min") return collective::parse_reduce_op(mode);
  return Status::invalid_argument("all_reduce: mode '{}' is none of sum, max, min", mode);
}

class GroupPeers final : public JobPeers {
 public:
  explicit GroupPeers(std::function<Group&()> group) : group_(std::move(group)) {}

  void barrier() const override { throw_if_error(group_().barrier()); }
  void all_reduce(std::vector<double>& values, const std::string& mode) const override { reduce(values, mode, at::kDouble); }
  void all_reduce(std::vector<int64_t>& values, const std::string& mode) const override { reduce(values, mode, at::kLong); }
  std::vector<std::string> all_gather(const std::string& bytes) const override {
    return value_or_throw(group_().all_gather(bytes));
  }
  std::optional<size_t> next(const std::string&, size_t) const override {
    throw Error(Status::unimplemented("files are handed out by the servers of a parameter-server job; use get_file_shard()"));
  }

 private:
  template <typename T>
  void reduce(std::vector<T>& values, const std::string& mode, at::ScalarType type) const {
    const ReduceOp op = value_or_throw(mode_of(mode));
    at::Tensor own = at::from_blob(values.data(), {static_cast<int64_t>(values.size())}, type);
    at::Tensor tensor = own.to(group_().device());
    throw_if_error(group_().all_reduce(tensor, op));
    own.copy_(tensor);
  }

  const std::function<Group&()> group_;
};

}  // namespace

void CollectiveJob::announce(RankInfo place, Settings settings) {
  leave();
  throw_if_error(observe::observe_process(settings, fmt::format("worker {}", place.rank)));
  announced_.emplace(std::move(place), std::move(settings));
}

const std::shared_ptr<Group>& CollectiveJob::world() {
  if (!world_ && announced_) {
    world_ = value_or_throw(Group::join(announced_->first, announced_->second));
    announced_.reset();
  }
  if (!world_) {
    throw Error(
        Status::failed_precondition("this process is in no collective job; call fleet::init({{.is_collective = true}}) first"));
  }
  return world_;
}

bool CollectiveJob::leave() {
  announced_.reset();
  if (!world_) return false;
  world_->leave();  // others may hold it still
  world_.reset();
  models_.clear();
  return true;
}

std::vector<std::shared_ptr<DataParallel>> CollectiveJob::models() const {
  std::vector<std::shared_ptr<DataParallel>> live;
  for (const auto& weak : models_) {
    if (auto model = weak.lock()) live.push_back(std::move(model));
  }
  return live;
}

std::shared_ptr<const JobPeers> peers_of(CollectiveJob& job) {
  return std::make_shared<GroupPeers>([&job]() -> Group& { return *job.world(); });
}

std::shared_ptr<const JobPeers> no_peers() {
  const std::shared_ptr<Group> alone = value_or_throw(Group::join(RankInfo{}, Settings()));
  return std::make_shared<GroupPeers>([alone]() -> Group& { return *alone; });
}

}  // namespace argosy::fleet
