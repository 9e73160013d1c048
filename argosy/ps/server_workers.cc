// Who the workers are, whether they are alive, and what those who wait are told.
#include <fmt/format.h>

#include <algorithm>

#include "argosy/base/notice.h"
#include "argosy/base/text.h"
#include "argosy/ps/job_spec_wire.h"
#include "argosy/ps/loss.h"
#include "argosy/ps/server_core.h"

namespace argosy::ps {
namespace {

constexpr double kTickSeconds = 0.05;
constexpr uint64_t kWaitingKeyBytes = 48;  // key, counters, and the hash map's room for growth
constexpr double kStepRetrySeconds = 0.5;
// Scripts save in it: no job shrinks by it, because it would end well without what it should save.
constexpr int kSavingWorker = 0;

std::string list_tables(const JobSpec& spec, const std::vector<uint32_t>& tables) {
  std::vector<std::string> names;
  for (const uint32_t table : tables) names.push_back("'" + spec.tables[table].name + "'");
  return join(names, ", ");
}

std::string list_workers(const Membership& members, const std::vector<int>& workers) {
  std::vector<std::string> names;
  for (const int worker : workers) names.push_back(members.describe(worker));
  return join(names, "; ");
}

}  // namespace

// ---- Hello.

Status Core::check_hello(const wire::HelloRequest& hello, const std::string& caller) const {
  if (hello.version() != kProtocolVersion) {
    return Status::failed_precondition("{} speaks protocol version {}, {} version {}; install the same Argosy on all machines",
                                       name_, kProtocolVersion, caller, hello.version());
  }
  if (!options_.job.empty() && hello.job() != options_.job) {
    return Status::failed_precondition("{} serves job '{}'; {} belongs to job '{}': do two jobs use one address?", name_,
                                       options_.job, caller, hello.job());
  }
  if (hello.servers() != static_cast<uint32_t>(options_.servers) || hello.server() != static_cast<uint32_t>(options_.server)) {
    return Status::failed_precondition("{} is server {} of {}; {} takes it for server {} of {}: give all processes the same list",
                                       name_, options_.server, options_.servers, caller, hello.server(), hello.servers());
  }
  if (!hello.observer() && options_.workers != 0 && hello.spec().workers() != static_cast<uint32_t>(options_.workers)) {
    return Status::failed_precondition("{} expects {} workers; {} says that the job has {}", name_, options_.workers, caller,
                                       hello.spec().workers());
  }
  if (hello.process_id() == 0) return Status::invalid_argument("{} gives no process_id", caller);
  return {};
}

// Makes the state for the first worker's job, or compares the job with the state's. REQUIRES: this thread has the turn.
Status Core::adopt(const wire::HelloRequest& hello, const std::string& caller) {
  ASSIGN_OR_RETURN(const JobSpec spec, from_wire(hello.spec()));
  if (const State* state = state_.load()) {
    if (hello.job() != state->job()) {
      return Status::failed_precondition("{} serves job '{}'; {} belongs to job '{}': do two jobs use one address?", name_,
                                         state->job(), caller, hello.job());
    }
    if (const auto different = difference(state->spec(), name_, spec, caller)) {
      return Status::failed_precondition("another schema: {}", *different);
    }
  } else {
    if (Status s = spec.check(); !s.ok()) return s.with_context("the job of {}", caller);
    ASSIGN_OR_RETURN(owned_state_, make_state(spec, hello.job()));
    state_ = owned_state_.get();
    log_info("serves job '{}': {} tables, {} mode, {} workers", hello.job(), spec.tables.size(), mode_name(spec.mode),
             spec.workers);
  }
  if (hello.worker() >= static_cast<uint32_t>(spec.workers)) {
    return Status::invalid_argument("{} is none of the {} workers of the job", caller, spec.workers);
  }
  return {};
}

void Core::on_hello(const CallPtr& call) {
  auto hello = read<wire::HelloRequest>(call);
  if (!hello) return;
  const std::string caller = hello->observer() ? fmt::format("observer {}", hello->process())
                                               : fmt::format("worker {} ({})", hello->worker(), hello->process());
  Status status = check_hello(*hello, caller);
  if (status.ok()) status = run_.check_hello(hello->run()).with_context("{} and {} do not belong together", caller, name_);
  if (!status.ok()) return call->fail(status);
  if (hello->observer()) return on_observer(call, *hello, caller);
  if (importing_) return call->fail(Status::unavailable("{} is being given its first values; try again", name_));
  const InGate inside(*this, call);
  if (!inside) return;
  const int worker = static_cast<int>(hello->worker());
  std::unique_lock turn(order_mutex_, call->request.deadline.when());
  if (!turn.owns_lock()) return call->fail(no_turn(*call));
  status = adopt(*hello, caller);
  if (status.ok()) status = run_.take(hello->run()).with_context("{} and {} do not belong together", caller, name_);
  if (status.ok() && state_.load()->members().is_new(worker, hello->process_id())) {
    hello->set_run(run_.id());
    const std::string header = hello->SerializeAsString();
    status = commit({.method = wire::HELLO, .seconds = now_seconds(), .header = header}).status();
    if (status.ok()) {
      ++news_;
      log_info("{} has come, incarnation {}", caller, state_.load()->members().worker(worker).incarnation);
    }
  }
  turn.unlock();
  if (state_.load() != nullptr) advance_if_due();
  if (!status.ok()) return call->fail(status);
  State& state = *state_;
  // Pushes of the incarnation before, still under way, belong to the window that this one is told.
  const uint64_t seen = parking_.version(Topic::quiet);
  if (!state.members().is_quiet(worker)) return parking_.park(Topic::quiet, seen, call);
  const Membership::Worker known = state.members().worker(worker);
  wire::HelloReply reply;
  reply.set_incarnation(known.incarnation);
  *reply.mutable_window() = to_wire(known.window);
  *reply.mutable_position() = to_wire(state.position());
  for (const uint32_t table : state.tables().uninitialised()) reply.add_uninitialised(table);
  reply.set_lease_seconds(options_.lease_seconds);
  reply.set_server(name_);
  reply.set_run(run_.id());
  reply.set_boot(boot_);
  reply.set_may_lose(durability_ == Durability::snapshot);
  {
    std::lock_guard lock(state_mutex_);
    reply.set_next_step(state.sync().next_step(worker, known.window.round()));
  }
  call->send(outgoing(reply));
}

// Before the first worker there is nothing to observe: the observer tries again.
void Core::on_observer(const CallPtr& call, const wire::HelloRequest& hello, const std::string& caller) {
  const State* state = state_.load();
  if (state == nullptr) return call->fail(Status::unavailable("{} serves no job yet; {} has to wait for workers", name_, caller));
  if (hello.job() != state->job()) {
    return call->fail(
        Status::failed_precondition("{} serves job '{}'; {} asks for job '{}'", name_, state->job(), caller, hello.job()));
  }
  const auto number = observers_.hello(hello.process_id());
  if (!number.ok()) return call->fail(number.status());
  wire::HelloReply reply;
  reply.set_incarnation(*number);
  *reply.mutable_position() = to_wire(state->position());
  reply.set_server(name_);
  reply.set_run(run_.id());
  call->send(outgoing(reply));
}

void Core::on_heartbeat(const CallPtr& call) {
  const auto request = read<wire::HeartbeatRequest>(call);
  if (!request) return;
  State* state = admit(call, request->caller());
  if (state == nullptr) return;
  wire::HeartbeatReply reply;
  reply.set_boot(boot_);
  if (request->boot() != boot_) {
    *reply.mutable_window() = to_wire(state->members().worker(static_cast<int>(request->caller().worker())).window);
  }
  if (unsettled_) add_unsettled(reply);
  call->send(outgoing(reply));
}

void Core::on_goodbye(const CallPtr& call) {
  const auto goodbye = read<wire::GoodbyeRequest>(call);
  if (!goodbye) return;
  if (!goodbye->failed().empty()) return on_failure(call, *goodbye);
  change<wire::GoodbyeRequest>(call, [this](State& state, const auto& request, Verdict) {
    advance();
    parking_.wake(Topic::gather);
    log_info("worker {} is done", request.caller().worker());
    if (state.members().all_done()) report_job(state);
    end_if_done();
    return outgoing(wire::GoodbyeReply());
  });
}

void Core::end_if_done() {
  if (!options_.end_with_workers || !state_.load()->members().all_done()) return;
  std::lock_guard lock(end_mutex_);
  ended_ = true;
  end_changed_.notify_all();
}

// The lease of a worker that says that it has failed is over at once; the keeper does what on_worker_loss says.
void Core::on_failure(const CallPtr& call, const wire::GoodbyeRequest& goodbye) {
  State* state = admit(call, goodbye.caller());
  if (state == nullptr) return;
  state->members().fail(static_cast<int>(goodbye.caller().worker()), goodbye.failed(), options_.lease_seconds);
  call->send(outgoing(wire::GoodbyeReply()));
}

// ---- Time.

void Core::keep() {
  Stopwatch since_exports, since_tick, since_keys;
  for (;;) {
    {
      std::unique_lock lock(end_mutex_);
      const auto next = Deadline::after_seconds(kTickSeconds).when();
      if (end_changed_.wait_until(lock, next, [this] { return stopping_; })) return;
    }
    const double paused = since_tick.seconds();
    since_tick.restart();
    // A process that did not run did not hear anybody either.
    if (state_.load() != nullptr && paused > options_.lease_seconds / 2) state_.load()->members().touch_all();
    give_up_on_workers();
    if (state_.load() == nullptr) continue;
    watch_leases();
    retry_steps();
    if (advance_due_ && gate_.enter()) {  // who had the turn when it was asked for may not have looked
      advance_if_due();
      gate_.leave();
    }
    answer_waiting();
    snapshotter_.answer_due();
    if (since_keys.seconds() > 0.5) {
      watch_waiting_keys();
      since_keys.restart();
    }
    if (since_exports.seconds() > 10) {
      drop_idle_exports();
      since_exports.restart();
    }
  }
}

// A step whose record the log did not take, and one whose record the process before did not write: all pushes are here, and
// nobody sends anything more for it.
void Core::retry_steps() {
  if (!steps_due_ || retry_steps_at_ > SteadyClock::now() || !gate_.enter()) return;
  retry_steps_at_ = Deadline::after_seconds(kStepRetrySeconds).when();
  if (const std::unique_lock turn(order_mutex_, std::try_to_lock); turn.owns_lock()) {
    steps_due_ = false;
    advance();
  }
  gate_.leave();
}

void Core::watch_leases() {
  State& state = *state_;
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
  if (!others.empty()) lose(others);
}

// Keys that are counted and not admitted yet take memory for as long as nobody shrinks their table; see on_push().
void Core::watch_waiting_keys() {
  const Tables& tables = state_.load()->tables();
  uint64_t keys = 0;
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables.is_sparse(i) && tables.sparse(i).keeps_waiting()) keys += tables.sparse(i).size().waiting;
  }
  limits_.waiting_keys.set_now(keys * kWaitingKeyBytes);
}

// A server would wait for ever where nobody ever comes, and where its last workers have died.
void Core::give_up_on_workers() {
  const Membership* members = state_.load() == nullptr ? nullptr : &state_.load()->members();
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
    (void)fatal(Status::aborted("all workers that were not done have failed: {}; nobody is left to train. See their logs",
                                list_workers(*members, missing)));
    return;
  }
  if (quiet <= (some_never_came ? options_.worker_start_seconds : options_.lease_seconds + options_.worker_wait_seconds)) return;
  (void)fatal(Status::deadline_exceeded(
      "no worker was heard of in {:.1f} s; missing: {}. See the workers' logs; {} says how long a server waits", quiet,
      members == nullptr ? "all of them" : list_workers(*members, missing),
      some_never_came ? "worker_start_seconds" : "worker_wait_seconds"));
}

// Goes on without these workers. Where a snapshot is being cut, or another change has its turn, the next tick does it.
void Core::lose(const std::vector<int>& workers) {
  if (!gate_.enter()) return;
  if (const std::unique_lock turn(order_mutex_, std::try_to_lock); turn.owns_lock()) {
    for (const int worker : workers) {
      wire::WorkerLostRecord lost;
      lost.set_worker(static_cast<uint32_t>(worker));
      lost.set_incarnation(state_.load()->members().worker(worker).incarnation);
      const std::string header = lost.SerializeAsString();
      (void)commit({.method = wire::WORKER_LOST, .seconds = now_seconds(), .header = header});
    }
    advance();
    parking_.wake(Topic::gather);
    end_if_done();
  }
  gate_.leave();
}

// Answers calls that cannot or may not wait any longer: their time is over, or somebody that they wait for is lost.
void Core::answer_waiting() {
  State& state = *state_;
  const double patience = options_.on_worker_loss == OnWorkerLoss::wait ? options_.worker_wait_seconds : 0;
  std::vector<int> lost = state.members().silent(options_.lease_seconds + patience);
  if (options_.on_worker_loss == OnWorkerLoss::shrink) std::erase_if(lost, [](int worker) { return worker != kSavingWorker; });
  const auto now = SteadyClock::now();
  const auto due = [&](Topic topic, const Call& call) {
    return call.give_up() <= now || (!lost.empty() && topic != Topic::thaw && topic != Topic::quiet);
  };
  for (auto& [topic, call] : parking_.take_if(due)) {
    const uint64_t seen = parking_.version(topic);
    std::vector<int> missing = missing_for(topic, *call);
    if (call->give_up() <= now) {
      call->fail(waited_in_vain(topic, *call, missing));
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

std::vector<int> Core::missing_for(Topic topic, const Call& call) {
  State& state = *state_;
  std::lock_guard lock(state_mutex_);
  switch (topic) {
    case Topic::position: return state.sync().missing();
    case Topic::gather: {
      wire::GatherRequest request;
      if (!request.ParseFromString(call.request.header)) return {};
      return state.exchange().missing(request.name(), state.exchange().number_of(gather_call(request)));
    }
    case Topic::initialised: return {0};  // the first worker sets them
    case Topic::mail: {
      std::vector<int> workers;
      for (int i = 0; i < state.members().workers(); ++i) {
        if (state.members().is_awaited(i)) workers.push_back(i);
      }
      return workers;
    }
    case Topic::quiet:
    case Topic::thaw: return {};
  }
  return {};
}

Status Core::waited_in_vain(Topic topic, const Call& call, const std::vector<int>& missing) {
  State& state = *state_;
  const double seconds = call.waited_seconds();
  const std::string who = missing.empty() ? "nobody" : list_workers(state.members(), missing);
  switch (topic) {
    case Topic::position:
      return Status::deadline_exceeded("waited {:.1f} s for a step; {} is at step {} of round {} and waits for {}", seconds,
                                       name_, state.position().step, state.position().round, who);
    case Topic::gather: {
      wire::GatherRequest request;
      (void)request.ParseFromString(call.request.header);
      const std::lock_guard lock(state_mutex_);
      return Status::deadline_exceeded("waited {:.1f} s at barrier '{}' number {}; missing: {}", seconds, request.name(),
                                       state.exchange().number_of(gather_call(request)), who);
    }
    case Topic::initialised:
      return Status::deadline_exceeded(
          "waited {:.1f} s for first values of {}, which worker 0 sets after its startup program ({})", seconds,
          list_tables(state.spec(), state.tables().uninitialised()), who);
    case Topic::mail: return Status::deadline_exceeded("waited {:.1f} s for a letter of another worker", seconds);
    case Topic::quiet: return Status::unavailable("pushes of the process before are still under way; try again");
    case Topic::thaw: return Status::unavailable("{} is cutting a snapshot; try again", name_);
  }
  return Status::internal("waited for nothing");
}

}  // namespace argosy::ps
