// What workers do together: files, barriers, reductions, the exchange of records.
#include <ATen/ATen.h>

#include "argosy/base/error.h"
#include "argosy/base/progress.h"
#include "argosy/data/in_memory_dataset.h"
#include "argosy/engine/train/evaluation_metrics.h"
#include "argosy/fleet/fleet.h"
#include "argosy/fleet/job.h"

namespace argosy::fleet {
namespace {

Deadline deadline(const RemoteWorker& worker) { return Deadline::after_seconds(worker.wait_seconds()); }

Result<ps::Reduce> reduce_of(const std::string& mode) {
  if (mode == "sum") return ps::Reduce::sum;
  if (mode == "max") return ps::Reduce::max;
  if (mode == "min") return ps::Reduce::min;
  return Status::invalid_argument("all_reduce: mode '{}' is none of sum, max, min", mode);
}

// Through the servers that a Fleet's worker is connected with.
class ServerPeers final : public JobPeers {
 public:
  explicit ServerPeers(const Fleet& fleet) : fleet_(fleet) {}

  void barrier() const override {
    RemoteWorker& worker = gathering("barrier_worker()");
    if (worker.plan().spec.mode != ps::Mode::sync) throw_if_error(worker.refresh());  // what is queued counts as before it
    throw_if_error(worker.client().barrier("barrier", deadline(worker), worker.position()));
    throw_if_error(worker.refresh());
  }

  void all_reduce(std::vector<double>& values, const std::string& mode) const override { reduce(values, mode); }
  void all_reduce(std::vector<int64_t>& values, const std::string& mode) const override { reduce(values, mode); }

  std::vector<std::string> all_gather(const std::string& bytes) const override {
    RemoteWorker& worker = gathering("all_gather()");
    return value_or_throw(worker.client().all_gather("all_gather", bytes, deadline(worker), worker.position()));
  }

  std::optional<size_t> next(const std::string& list, size_t count) const override {
    return value_or_throw(fleet_.connection("next_file()").client().next_file(list, count));
  }

 private:
  // The worker's connection, of which nobody waits for a step from now on.
  RemoteWorker& gathering(std::string_view call) const {
    RemoteWorker& worker = fleet_.connection(call);
    throw_if_error(worker.before_gathering());
    return worker;
  }

  template <typename T>
  void reduce(std::vector<T>& values, const std::string& mode) const {
    const ps::Reduce reduce = value_or_throw(reduce_of(mode));
    RemoteWorker& worker = gathering("all_reduce()");
    throw_if_error(worker.client().all_reduce("all_reduce", reduce, std::span(values), deadline(worker), worker.position()));
  }

  const Fleet& fleet_;
};

}  // namespace

std::shared_ptr<const JobPeers> Fleet::peers() const { return std::make_shared<ServerPeers>(*this); }

double global_auc(const Fleet& fleet, const Scope& scope, const std::string& stat_pos, const std::string& stat_neg) {
  RemoteWorker& worker = fleet.connection("global_auc()");
  throw_if_error(worker.before_gathering());
  std::vector<std::vector<int64_t>> counts;
  for (const std::string& name : {stat_pos, stat_neg}) {
    const Value* value = scope.find(name);
    if (value == nullptr || !value->tensor.defined()) {
      throw Error(
          Status::not_found("global_auc: '{}' has no value in this scope; it is one of the auc layer's statistics", name));
    }
    const at::Tensor numbers = value->tensor.cpu().to(at::kLong).flatten().contiguous();
    const int64_t* data = numbers.const_data_ptr<int64_t>();
    counts.emplace_back(data, data + numbers.numel());
    throw_if_error(
        worker.client().all_reduce("global_auc", ps::Reduce::sum, std::span(counts.back()), deadline(worker), worker.position()));
  }
  return engine::auc_of_counts(counts[0], counts[1]);
}

// Every block goes through the servers' boxes, an empty one last; a worker takes while it gives, so that boxes stay small.
void Fleet::global_shuffle(data::InMemoryDataset& dataset, uint64_t seed) const {
  RemoteWorker& worker = connection("global_shuffle()");
  throw_if_error(worker.before_gathering());
  ps::Client& client = worker.client();
  const int workers = worker_num(), self = worker_index();
  Progress progress("shuffle");
  throw_if_error(dataset.begin_exchange(seed));
  int open = workers - 1;
  const auto take = [&](Deadline until) {
    auto mail = client.take(until);
    if (mail.status().code() == Code::deadline_exceeded && open > 0) return false;
    const std::string bytes = value_or_throw(std::move(mail)).bytes;
    if (bytes.empty())
      --open;
    else
      throw_if_error(dataset.give_records(bytes));
    return true;
  };
  std::vector<std::string> blocks(static_cast<size_t>(workers));
  const auto post = [&](bool last) {
    for (int to = 0; to < workers; ++to) {
      std::string& block = blocks[static_cast<size_t>(to)];
      if (!block.empty()) throw_if_error(to == self ? dataset.give_records(block) : client.post(to, block));
      if (last && to != self) throw_if_error(client.post(to, ""));
      block.clear();
    }
  };
  while (dataset.take_records(blocks)) {
    post(false);
    progress.set(dataset.exchange_ratio());
    while (open > 0 && take(Deadline::after_seconds(0.001))) {
    }
  }
  post(true);
  const Deadline end = deadline(worker);
  while (open > 0) {
    if (!take(Deadline::after_seconds(1)) && end.passed())
      throw Error(Status::deadline_exceeded("global_shuffle: {} workers have not sent all their records in {} s", open,
                                            worker.wait_seconds()));
  }
  throw_if_error(dataset.end_exchange());
}

}  // namespace argosy::fleet
