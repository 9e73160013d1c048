#include <algorithm>
#include <cstdlib>

#include "argosy/base/mutex.h"
#include "argosy/base/queue.h"
#include "argosy/base/thread.h"
#include "argosy/observe/metrics.h"
#include "argosy/ps/communicator/communicator_base.h"
#include "argosy/ps/communicator/dense_lookahead.h"

namespace argosy::ps {
namespace {

constexpr std::chrono::milliseconds kMergeWait{10};  // of one of send_wait_times

// Threads queue their gradients and go on. Owns the threads "ps-send" (thread_pool_size of them), which merge what is
// queued and push it, and "ps-receive", which fetches dense parameters now and then.
class AsyncCommunicator final : public CommunicatorBase {
 public:
  AsyncCommunicator(const CommunicatorOptions& options, Client& client, Clipper clipper)
      : CommunicatorBase(options, client, std::move(clipper)), queue_(static_cast<size_t>(options.send_queue_size)) {}
  ~AsyncCommunicator() override { end_threads(); }

  Status start() override {
    RETURN_IF_ERROR(check_bound());
    RETURN_IF_ERROR(begin_lookahead());
    RETURN_IF_ERROR(receive_dense({}, patience()));
    for (int i = 0; i < options().thread_pool_size; ++i) senders_.emplace_back("ps-send", [this] { send_until_closed(); });
    if (options().independent_recv_thread) receiver_ = Thread("ps-receive", [this] { receive_until_stopped(); });
    return {};
  }

  Status pull(std::span<const RowRequest> requests) override {
    RETURN_IF_ERROR(failure());
    return pull_from_servers(requests);
  }

  // Batches that wait to be merged are not waited for: they would never be.
  Status before_prefetch() override {
    if (merges()) return failure();
    MutexLock lock(mutex_);
    const int64_t queued = queued_ever_;
    const auto sent = [&]() ARGOSY_REQUIRES(mutex_) { return sent_ever_ >= queued || stopping_; };
    if (!changed_.wait_until(lock, patience().when(), sent)) return not_taken(unsent_);
    lock.unlock();
    return failure();
  }

  Status step(const StepGradients& gradients) override {
    RETURN_IF_ERROR(check_step(gradients));
    if (client().all_had(gradients.batch_id)) return {};
    auto copy = copies_.take();
    copy->assign(spec(), gradients);
    if (clipper().clips_batches()) clipper().clip(*copy);
    if (lookahead_ != nullptr) lookahead_->advance(copy->view());
    count_unsent(1);
    const QueueState state = queue_.push(std::move(copy), patience());
    if (state == QueueState::ok) {
      RETURN_IF_ERROR(keep(wait_for_parameters()));
      reads().step_done();
      return failure();
    }
    count_unsent(-1);
    if (Status failed = failure(); !failed.ok()) return failed;
    if (state == QueueState::closed) return Status::failed_precondition("a step after stop");
    return keep(not_taken(options().send_queue_size));
  }

  Status thread_done() override { return failure(); }

 private:
  void set_threads(int threads) override { threads_ = threads; }

  Status refresh_all() override {
    RETURN_IF_ERROR(flush());
    return keep(receive_dense({}, patience()));
  }

  Status flush() override {
    MutexLock lock(mutex_);
    while (unsent_ > 0) {
      const int before = unsent_;
      const bool moved = changed_.wait_until(lock, patience().when(), [&]() ARGOSY_REQUIRES(mutex_) { return unsent_ < before; });
      if (!moved) return not_taken(unsent_);
    }
    lock.unlock();
    return failure();
  }

  // The senders let go of everything after an error, and the receiver's call ends: no call of theirs must meet servers that know
  // a newer incarnation of this worker.
  Status drop_unsent() override {
    MutexLock lock(mutex_);
    if (!changed_.wait_until(lock, patience().when(), [&]() ARGOSY_REQUIRES(mutex_) { return unsent_ == 0 && !receiver_busy_; }))
      return not_taken(unsent_);
    sends_ = 0;
    if (lookahead_ != nullptr) lookahead_->forget();
    return {};
  }

  Status begin_again() override { return receive_dense({}, patience()); }

  void end_threads() override {
    queue_.close();
    for (Thread& sender : senders_) sender.join();
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    receiver_.join();
  }

  bool merges() const { return options().max_merge_var_num > 1; }

  // Where batches are merged the servers' step is not that of one batch, and nothing is guessed.
  Status begin_lookahead() {
    if (merges()) return {};
    ASSIGN_OR_RETURN(lookahead_, DenseLookahead::make(spec()));
    for (size_t i = 0; i < spec().tables.size(); ++i) {
      if (!spec().tables[i].sparse) lookahead_->bind(static_cast<int>(i), storage(i));
    }
    return {};
  }

  // After an error nothing more is sent: what servers hold is then all that there is.
  std::span<const DenseRequest> begin_receive() override {
    if (lookahead_ == nullptr) return CommunicatorBase::begin_receive();
    if (!failure().ok()) lookahead_->forget();
    return lookahead_->begin_receive();
  }

  void end_receive(bool received) override {
    if (lookahead_ != nullptr) lookahead_->end_receive(received);
  }

  // What was received of dense parameters lacks no more of this worker's batches than send_queue_size (or what is meant to be
  // merged), those that other threads compute counted in, and a receive that is not due yet. A thread that would compute with
  // older ones waits: gradients of ever older parameters add up to steps that are far too long, and on a busy machine, where
  // sender and receiver come late, nothing else bounds their age.
  Status wait_for_parameters() {
    const int meant = std::max(options().send_queue_size, options().max_merge_var_num * options().thread_pool_size);
    const int most = std::max(meant - threads_ + 1, 0) + options().min_send_grad_num_before_recv - 1;
    MutexLock lock(mutex_);
    staleness_.set(unsent_ + sends_);
    step_staleness_.observe(unsent_ + sends_);
    const auto may_go_on = [&]() ARGOSY_REQUIRES(mutex_) { return unsent_ + sends_ <= most || stopping_ || !failure().ok(); };
    if (changed_.wait_until(lock, patience().when(), may_go_on)) return {};
    if (unsent_ > 0) return not_taken(unsent_);
    return Status::deadline_exceeded("dense parameters could not be received in {:.0f} s", options().sync_wait_seconds);
  }

  Status not_taken(int batches) const {
    return Status::deadline_exceeded("{} batches could not be sent in {:.0f} s: the servers do not take them", batches,
                                     options().sync_wait_seconds);
  }

  using Batch = std::shared_ptr<GradientCopy>;

  void send_until_closed() {
    std::vector<Batch> batches;
    Batch next;
    for (;;) {
      if (!next) {
        const QueueState state = queue_.pop(next, patience());
        if (state == QueueState::closed) return;
        if (state == QueueState::timed_out) continue;
      }
      batches.clear();
      batches.push_back(std::move(next));
      next = nullptr;
      gather(batches, next);
      // After an error batches are let go, so that nobody waits for them; every call tells the error.
      if (failure().ok()) (void)keep(send(batches));
      count_unsent(-static_cast<int>(batches.size()));
    }
  }

  // More batches to be merged with the first. One that only some servers lack, after a restart, goes alone: it is `next`.
  void gather(std::vector<Batch>& batches, Batch& next) {
    const auto mergeable = [&](const Batch& batch) { return !had_somewhere(batch->view().batch_id); };
    if (!mergeable(batches.front())) return;
    const auto round = round_of(batches.front()->view().batch_id);
    for (int waits = 0; batches.size() < static_cast<size_t>(options().max_merge_var_num);) {
      Batch more;
      if (auto ready = queue_.try_pop()) {
        more = std::move(*ready);
      } else {
        if (waits++ == options().send_wait_times) return;
        const QueueState state = queue_.pop(more, Deadline::after(kMergeWait));
        if (state == QueueState::closed) return;
        if (state == QueueState::timed_out) continue;
      }
      waits = 0;
      if (!mergeable(more) || round_of(more->view().batch_id) != round) {
        next = std::move(more);
        return;
      }
      batches.push_back(std::move(more));
    }
  }

  bool had_somewhere(BatchId batch) {
    for (int server = 0; server < client().servers(); ++server) {
      if (client().had(server, batch)) return true;
    }
    return false;
  }

  Status send(std::span<const Batch> batches) {
    if (batches.size() == 1) {
      const StepGradients only = batches.front()->view();
      RETURN_IF_ERROR(push_to_all({.batches = std::span(&only.batch_id, 1),
                                   .samples = std::span(&only.samples, 1),
                                   .dense = only.dense,
                                   .rows = only.rows,
                                   .owner = batches.front()}));
      if (lookahead_ != nullptr) lookahead_->sent(only.batch_id);
    } else {
      std::vector<StepGradients> views;
      for (const Batch& batch : batches) views.push_back(batch->view());
      const auto merged = merged_.take();
      merged->merge(spec(), views, options().sum_merged ? 1.0f : 1.0f / static_cast<float>(views.size()));
      RETURN_IF_ERROR(push_to_all({.batches = merged->batches(),
                                   .samples = merged->samples(),
                                   .dense = merged->dense(),
                                   .rows = merged->rows(),
                                   .owner = merged}));
    }
    pushes_ += 1;
    merged_batches_ += batches.size();
    return sent();
  }

  // Counts a push, and sees that dense parameters are received when it is time.
  Status sent() {
    {
      MutexLock lock(mutex_);
      sends_ += 1;
      if (sends_ < options().min_send_grad_num_before_recv) return {};
      if (!options().independent_recv_thread) sends_ = 0;
    }
    if (!options().independent_recv_thread) return receive_dense({}, patience());
    changed_.notify_all();
    return {};
  }

  void receive_until_stopped() {
    const auto due = [&]() ARGOSY_REQUIRES(mutex_) { return stopping_ || sends_ >= options().min_send_grad_num_before_recv; };
    for (;;) {
      int covered = 0;
      {
        MutexLock lock(mutex_);
        if (!changed_.wait_until(lock, patience().when(), due)) continue;
        if (stopping_) return;
        covered = sends_;
        receiver_busy_ = true;
      }
      if (failure().ok()) (void)keep(receive_dense({}, patience()));
      {
        MutexLock lock(mutex_);
        sends_ -= covered;
        receiver_busy_ = false;
      }
      changed_.notify_all();
    }
  }

  void count_unsent(int by) {
    {
      MutexLock lock(mutex_);
      unsent_ += by;
      (by > 0 ? queued_ever_ : sent_ever_) += std::abs(by);
      queued_.set(unsent_);
    }
    if (by < 0) changed_.notify_all();
  }

  std::unique_ptr<DenseLookahead> lookahead_;  // since start(); null: parameters lack what is on its way
  Pool<GradientCopy> copies_;
  Pool<MergedGradients> merged_;
  Queue<Batch> queue_;
  std::atomic<int> threads_ = 1;
  std::vector<Thread> senders_;
  Thread receiver_;

  observe::Gauge& queued_ =
      observe::Registry::process().gauge("argosy_worker_queue_batches", "Batches that wait to be sent, or are on their way.");
  observe::Gauge& staleness_ = observe::Registry::process().gauge(
      "argosy_worker_staleness_batches", "Batches of this worker that the dense parameters it received last may lack.");
  observe::Histogram& step_staleness_ = observe::Registry::process().histogram(
      "argosy_worker_step_staleness_batches", "The same, of each step.", {0, 1, 2, 4, 8, 16, 32, 64, 128});

  Mutex mutex_;
  ConditionVariable changed_;
  int unsent_ ARGOSY_GUARDED_BY(mutex_) = 0;         // batches in the queue and on their way
  int64_t queued_ever_ ARGOSY_GUARDED_BY(mutex_) = 0, sent_ever_ ARGOSY_GUARDED_BY(mutex_) = 0;  // or let go, after an error
  int sends_ ARGOSY_GUARDED_BY(mutex_) = 0;          // that the dense parameters received last may lack
  bool stopping_ ARGOSY_GUARDED_BY(mutex_) = false;
  bool receiver_busy_ ARGOSY_GUARDED_BY(mutex_) = false;  // the receiver has taken sends_ and has not answered for them
};

}  // namespace

std::unique_ptr<Communicator> make_async_communicator(const CommunicatorOptions& options, Client& client, Clipper clipper) {
  return std::make_unique<AsyncCommunicator>(options, client, std::move(clipper));
}

}  // namespace argosy::ps
