#include "argosy/testing/fault_channel.h"

#include <atomic>
#include <functional>
#include <map>
#include <utility>

#include "argosy/base/mutex.h"
#include "argosy/base/random.h"
#include "argosy/base/thread.h"

namespace argosy::testing {
namespace {

Status lost(const std::string& peer, const char* what) {
  return Status::unavailable("{} cannot be reached: {} was lost", peer, what);
}

}  // namespace

// What is decided for a call when it begins.
struct Plan {
  bool lose_request = false, lose_answer = false, duplicate = false;
  std::chrono::microseconds delay{0};
};

struct FaultChannel::State {
  State(const Faults& faults, uint64_t seed) : faults(faults), random(seed) {}

  Plan plan() {
    MutexLock lock(mutex);
    Plan plan;
    // Always as many draws, so that a call's fate does not depend on the probabilities of others.
    const bool request = random.uniform() < faults.lose_request, answer = random.uniform() < faults.lose_answer;
    plan.duplicate = random.uniform() < faults.duplicate;
    if (random.uniform() < faults.delay) plan.delay = std::chrono::microseconds(1 + random.below(faults.longest_delay.count()));
    plan.lose_request = std::exchange(lose_next_request, false) || cut || request;
    plan.lose_answer = !plan.lose_request && (std::exchange(lose_next_answer, false) || answer);
    counters.lost_requests += plan.lose_request;
    counters.delays += !plan.lose_request && plan.delay.count() > 0;
    counters.duplicates += !plan.lose_request && plan.duplicate;
    return plan;
  }

  bool answer_is_lost(bool planned) {
    MutexLock lock(mutex);
    const bool is_lost = planned || cut;
    counters.lost_answers += is_lost;
    return is_lost;
  }

  mutable Mutex mutex;
  Faults faults ARGOSY_GUARDED_BY(mutex);
  Random random ARGOSY_GUARDED_BY(mutex);
  FaultCounters counters ARGOSY_GUARDED_BY(mutex);
  bool lose_next_request ARGOSY_GUARDED_BY(mutex) = false,
                         lose_next_answer ARGOSY_GUARDED_BY(mutex) = false, cut ARGOSY_GUARDED_BY(mutex) = false;
};

// Does things at their time. What is left when it goes is told so, with false. Thread-safe.
class FaultChannel::DelayLine {
 public:
  using Work = std::function<void(bool go)>;

  DelayLine() : thread_("fault-delay", [this] { run(); }) {}
  ~DelayLine() {
    {
      MutexLock lock(mutex_);
      stopped_ = true;
      changed_.notify_one();
    }
    thread_.join();
    for (auto& [when, work] : waiting_) work(false);
  }

  void add(std::chrono::microseconds delay, Work work) {
    MutexLock lock(mutex_);
    waiting_.emplace(SteadyClock::now() + delay, std::move(work));
    changed_.notify_one();
  }

 private:
  void run() {
    MutexLock lock(mutex_);
    while (!stopped_) {
      if (waiting_.empty()) {
        changed_.wait(lock);
      } else if (const auto when = waiting_.begin()->first; when > SteadyClock::now()) {
        changed_.wait_until(lock, when);
      } else {
        const Work work = std::move(waiting_.extract(waiting_.begin()).mapped());
        lock.unlock();
        work(true);
        lock.lock();
      }
    }
  }

  Mutex mutex_;
  ConditionVariable changed_;
  std::multimap<SteadyClock::time_point, Work> waiting_ ARGOSY_GUARDED_BY(mutex_);
  bool stopped_ ARGOSY_GUARDED_BY(mutex_) = false;
  Thread thread_;
};

FaultChannel::FaultChannel(std::unique_ptr<rpc::Channel> inner, const Faults& faults, uint64_t seed)
    : inner_(std::move(inner)), state_(std::make_shared<State>(faults, seed)), delay_line_(std::make_unique<DelayLine>()) {}

FaultChannel::~FaultChannel() {
  delay_line_.reset();
  inner_.reset();
}

void FaultChannel::set_faults(const Faults& faults) {
  MutexLock lock(state_->mutex);
  state_->faults = faults;
}

void FaultChannel::lose_next_request() {
  MutexLock lock(state_->mutex);
  state_->lose_next_request = true;
}

void FaultChannel::lose_next_answer() {
  MutexLock lock(state_->mutex);
  state_->lose_next_answer = true;
}

void FaultChannel::set_cut(bool cut) {
  MutexLock lock(state_->mutex);
  state_->cut = cut;
}

FaultCounters FaultChannel::counters() const {
  MutexLock lock(state_->mutex);
  return state_->counters;
}

void FaultChannel::call(rpc::Message message, Deadline deadline, rpc::Callback done) {
  const Plan plan = state_->plan();
  if (plan.lose_request) return done(lost(peer(), "the request"));
  if (plan.delay.count() == 0) return send(std::move(message), deadline, std::move(done), plan.lose_answer, plan.duplicate);
  delay_line_->add(plan.delay, [this, plan, message = std::move(message), deadline, done = std::move(done)](bool go) {
    if (!go)
      return done(Status::cancelled("the call of method {} to {} was cancelled: its channel was closed", message.method, peer()));
    send(message, deadline, done, plan.lose_answer, plan.duplicate);
  });
}

void FaultChannel::send(rpc::Message message, Deadline deadline, rpc::Callback done, bool lose_answer, bool duplicate) {
  auto first = std::make_shared<std::atomic<bool>>(true);  // whether no answer has come yet
  auto answered = [state = state_, first, done = std::move(done), lose_answer, name = peer()](Result<rpc::Received> answer) {
    if (!first->exchange(false)) return;
    if (state->answer_is_lost(lose_answer)) return done(lost(name, "the answer"));
    done(std::move(answer));
  };
  if (duplicate) inner_->call(message, deadline, answered);
  inner_->call(std::move(message), deadline, std::move(answered));
}

}  // namespace argosy::testing
