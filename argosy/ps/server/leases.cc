#include "argosy/ps/server/leases.h"

#include <algorithm>

#include "argosy/base/notice.h"
#include "argosy/base/text.h"

namespace argosy::ps {

std::string list_workers(const Membership& members, const std::vector<int>& workers) {
  std::vector<std::string> names;
  for (const int worker : workers) names.push_back(members.describe(worker));
  return join(names, "; ");
}

void Leases::look(double paused) {
  if (state_ && paused > options_.lease_seconds / 2) state_->members().touch_all();
  give_up();
  if (state_) watch(*state_);
}

void Leases::watch(State& state) {
  const std::vector<int> silent = state.members().silent(options_.lease_seconds);
  std::erase_if(reported_silent_, [&](int worker) {
    if (std::ranges::find(silent, worker) != silent.end()) return false;
    if (state.members().is_awaited(worker)) notice("worker {} is back", worker);
    return true;
  });
  for (const int worker : silent) {
    if (!reported_silent_.insert(worker).second) continue;
    notice(LogLevel::warning, "lost {}; on_worker_loss is {}", state.members().describe(worker),
           on_worker_loss_name(options_.on_worker_loss));
  }
  if (options_.on_worker_loss != OnWorkerLoss::shrink) return;
  std::vector<int> others = silent;
  std::erase(others, kSavingWorker);
  if (!others.empty()) lose(state, others);
}

// A server would wait for ever where nobody ever comes, and where its last workers have died.
void Leases::give_up() {
  const Membership* members = state_ ? &state_->members() : nullptr;
  const double quiet = members == nullptr ? since_start_.seconds() : members->quiet_seconds();
  if (!options_.end_with_workers || quiet <= options_.lease_seconds) return;
  std::vector<int> missing;
  bool some_never_came = members == nullptr;
  for (int worker = 0; members != nullptr && worker < members->workers(); ++worker) {
    const Membership::Phase phase = members->worker(worker).phase;
    if (phase != Membership::Phase::done) missing.push_back(worker);
    some_never_came |= phase == Membership::Phase::not_seen;
  }
  const bool may_return = options_.workers_return || options_.on_worker_loss == OnWorkerLoss::wait;
  if (members != nullptr && !may_return && members->all_failed(options_.lease_seconds)) {
    (void)ending_.fatal(Status::aborted("all workers that were not done have failed: {}; nobody is left to train. See their logs",
                                        list_workers(*members, missing)));
    return;
  }
  if (quiet <= (some_never_came ? options_.worker_start_seconds : options_.lease_seconds + options_.worker_wait_seconds)) return;
  (void)ending_.fatal(Status::deadline_exceeded(
      "no worker was heard of in {:.1f} s; missing: {}. See the workers' logs; {} says how long a server waits", quiet,
      members == nullptr ? "all of them" : list_workers(*members, missing),
      some_never_came ? "worker_start_seconds" : "worker_wait_seconds"));
}

// Goes on without these workers. Where a snapshot is being cut, or another change has its turn, the next tick does it.
void Leases::lose(State& state, const std::vector<int>& workers) {
  changes_.now_or_later([&] {
    for (const int worker : workers) {
      wire::WorkerLostRecord lost;
      lost.set_worker(static_cast<uint32_t>(worker));
      lost.set_incarnation(state.members().worker(worker).incarnation);
      const std::string header = lost.SerializeAsString();
      (void)changes_.commit({.method = wire::WORKER_LOST, .seconds = Changes::now_seconds(), .header = header});
    }
    changes_.advance();
    parking_.wake(Topic::gather);
    parking_.wake(Topic::batches);
    lost_(state);
  });
}

}  // namespace argosy::ps
