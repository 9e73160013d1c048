#include "argosy/ps/server/waiting_calls.h"

#include <algorithm>

#include "argosy/base/mutex.h"
#include "argosy/base/text.h"
#include "argosy/ps/server/leases.h"
#include "argosy/ps/spec/worker_loss.h"

namespace argosy::ps {
namespace {

std::string list_tables(const JobSpec& spec, const std::vector<uint32_t>& tables) {
  std::vector<std::string> names;
  for (const uint32_t table : tables) names.push_back("'" + spec.tables[table].name + "'");
  return join(names, ", ");
}

}  // namespace

void WaitingCalls::answer_due(State& state) {
  const double patience = options_.on_worker_loss == OnWorkerLoss::wait ? options_.worker_wait_seconds : 0;
  std::vector<int> lost = state.members().silent(options_.lease_seconds + patience);
  if (options_.on_worker_loss == OnWorkerLoss::shrink) std::erase_if(lost, [](int worker) { return worker != kSavingWorker; });
  const auto now = SteadyClock::now();
  const auto due = [&](Topic topic, const Call& call) {
    return call.give_up() <= now || (!lost.empty() && topic != Topic::thaw && topic != Topic::quiet && topic != Topic::log);
  };
  for (auto& [topic, call] : parking_.take_if(due)) {
    const uint64_t seen = parking_.version(topic);
    std::vector<int> missing = missing_for(state, topic, *call);
    if (call->give_up() <= now) {
      call->fail(timed_out(state, topic, *call, missing));
      continue;
    }
    std::erase_if(missing, [&](int worker) { return std::ranges::find(lost, worker) == lost.end(); });
    if (missing.empty()) {
      parking_.park(topic, seen, call);
      continue;
    }
    call->fail(lost_error(list_workers(state.members(), missing)));
  }
}

std::vector<int> WaitingCalls::missing_for(State& state, Topic topic, const Call& call) {
  MutexLock lock(state.mutex());
  switch (topic) {
    case Topic::position: return state.sync().missing();
    case Topic::gather: {
      wire::GatherRequest request;
      if (!request.ParseFromString(call.request.header)) return {};
      return state.gatherings().missing(request.name(), state.gatherings().number_of(gather_call(request)));
    }
    case Topic::initialised: return {0};  // the first worker sets them
    case Topic::mail: {
      std::vector<int> workers;
      for (int i = 0; i < state.members().workers(); ++i) {
        if (state.members().is_awaited(i)) workers.push_back(i);
      }
      return workers;
    }
    case Topic::batches: {
      wire::CompareRequest request;
      return request.ParseFromString(call.request.header) ? missing_batches_(state, request) : std::vector<int>();
    }
    case Topic::quiet:
    case Topic::log:
    case Topic::thaw: return {};
  }
  return {};
}

Status WaitingCalls::timed_out(State& state, Topic topic, const Call& call, const std::vector<int>& missing) const {
  const double seconds = call.waited_seconds();
  const std::string who = missing.empty() ? "nobody" : list_workers(state.members(), missing);
  switch (topic) {
    case Topic::position:
      return Status::deadline_exceeded(
          "timed out after {:.1f} s waiting for a step; {} is at step {} of round {} and waits for {}", seconds, name_,
          state.position().step, state.position().round, who);
    case Topic::gather: {
      wire::GatherRequest request;
      (void)request.ParseFromString(call.request.header);
      const MutexLock lock(state.mutex());
      return Status::deadline_exceeded("timed out after {:.1f} s waiting at barrier '{}' number {}; missing: {}", seconds,
                                       request.name(), state.gatherings().number_of(gather_call(request)), who);
    }
    case Topic::initialised:
      return Status::deadline_exceeded(
          "timed out after {:.1f} s waiting for first values of {}, which worker 0 sets after its startup program ({})", seconds,
          list_tables(state.spec(), state.tables().uninitialised()), who);
    case Topic::mail:
      return Status::deadline_exceeded("timed out after {:.1f} s waiting for a message of another worker", seconds);
    case Topic::batches:
      return Status::deadline_exceeded(
          "timed out after {:.1f} s waiting for batches that {} was started again without and that had been acknowledged before "
          "a "
          "barrier; they are sent again by {}",
          seconds, name_, who);
    case Topic::quiet: return Status::unavailable("pushes of the process before are still under way; try again");
    case Topic::thaw: return Status::unavailable("{} is cutting a snapshot; try again", name_);
    case Topic::log: return Status::deadline_exceeded("the log of {} has not grown in {:.1f} s", name_, seconds);
  }
  return Status::internal("a call timed out waiting for nothing");
}

}  // namespace argosy::ps
