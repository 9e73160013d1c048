
#include "argosy/base/mutex.h"
#include "argosy/ps/communicator/meeting_communicator.h"

namespace argosy::ps {
namespace {

// Every step of the round is taken by all workers together. This worker's part: push the mean over its threads to all
// servers; where norms are clipped, tell all servers the factors; and read parameters only where the step has been applied.
class SyncCommunicator final : public MeetingCommunicator {
 public:
  SyncCommunicator(const CommunicatorOptions& options, Client& client, Clipper clipper)
      : MeetingCommunicator(options, client, std::move(clipper)), clips_(!client.spec().clip_groups().empty()) {
    round_changed();
  }

  Status start() override {
    RETURN_IF_ERROR(check_bound());
    return receive_dense({}, patience());
  }

  Result<bool> begin_round(int threads) override {
    ASSIGN_OR_RETURN(const bool wanted, MeetingCommunicator::begin_round(threads));
    if (wanted) RETURN_IF_ERROR(enter());
    return wanted;
  }

  // Leaves the round of the steps that a script has fed itself; one that an earlier start of this worker has finished is passed
  // over. The next step, or refresh(), waits until the others have left it too.
  Status before_gathering() override {
    if (in_round() || abandoned()) return {};
    RETURN_IF_ERROR(failure());
    return skip_finished_round() ? Status() : leave_round();
  }

  Status pull(std::span<const RowRequest> requests) override {
    RETURN_IF_ERROR(enter());
    return pull_from_servers(requests);
  }

 private:
  Status refresh_all() override {
    RETURN_IF_ERROR(enter());
    return receive_dense({}, patience());
  }

  // All servers are at next(): what is read now is what every worker reads at this step. Needed once per round, and once after a
  // start; after a step send() has seen to it.
  Status enter() {
    MutexLock lock(mutex_);
    if (!changed_.wait_until(lock, patience().when(), [&]() ARGOSY_REQUIRES(mutex_) { return !entering_; })) {
      return Status::deadline_exceeded("round {} did not begin in {:.0f} s", round(), options().sync_wait_seconds);
    }
    if (entered_) return failure();
    entering_ = true;
    lock.unlock();
    Status status = keep(catch_up());
    lock.lock();
    entering_ = false;
    entered_ = status.ok();
    changed_.notify_all();
    return status;
  }

  // An earlier start of this worker may have pushed steps that it did not see through.
  Status catch_up() {
    RETURN_IF_ERROR(failure());
    ASSIGN_OR_RETURN(Position position, client().position());
    if (position.round == round()) {
      for (; position.step < next_step_; ++position.step) RETURN_IF_ERROR(finish(position));
    }
    return receive_at(next());
  }

  Status send(const Push& push) override {
    RETURN_IF_ERROR(enter());
    const Position step = next();
    Push numbered = push;
    numbered.step = step;
    RETURN_IF_ERROR(push_to_all(numbered));
    RETURN_IF_ERROR(finish(step));
    next_step_ += 1;
    return {};
  }

  // Sees `step`, which this worker has pushed to all servers, through, and receives what comes out.
  Status finish(Position step) {
    if (clips_) {
      std::optional<std::vector<StepNorm>> norms;
      RETURN_IF_ERROR(while_moving(step, [&](Deadline deadline) {
        auto answer = client().step_norms(step, deadline);
        if (answer.ok()) norms = std::move(*answer);
        return answer.status();
      }));
      if (norms) RETURN_IF_ERROR(client().apply_step(step, clipper().factors(*norms)));
    }
    return receive_at({step.round, step.step + 1});
  }

  Status receive_at(Position position) {
    return while_moving(position, [&](Deadline deadline) { return receive_dense(position, deadline); });
  }

  // Repeats a call that waits for other workers, as long as they make steps: a worker with little data may wait longer
  // than sync_wait_seconds for one with much.
  template <typename Call>
  Status while_moving(Position awaited, Call call) {
    std::optional<Position> seen;
    for (;;) {
      Status status = call(patience());
      if (status.code() != Code::deadline_exceeded) return status;
      ASSIGN_OR_RETURN(const Position now, client().position());
      const bool moved = seen ? now > *seen : now.round < awaited.round;
      if (!moved)
        return status.with_context("worker {} waits for step {} of round {}", client().worker(), awaited.step, awaited.round);
      seen = now;
    }
  }

  Position next() const { return {round(), next_step_}; }
  uint32_t steps_of_round() const override { return next_step_; }

  void round_changed() override {
    next_step_ = round() == client().first_open_round() ? client().next_step() : 0;
    MutexLock lock(mutex_);
    entered_ = false;
  }

  const bool clips_;
  uint32_t next_step_ = 0;  // of this round; changed while all threads wait, or none runs

  Mutex mutex_;
  ConditionVariable changed_;
  bool entering_ ARGOSY_GUARDED_BY(mutex_) = false;
  bool entered_ ARGOSY_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::unique_ptr<Communicator> make_sync_communicator(const CommunicatorOptions& options, Client& client, Clipper clipper) {
  return std::make_unique<SyncCommunicator>(options, client, std::move(clipper));
}

}  // namespace argosy::ps
