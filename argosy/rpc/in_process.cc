#include "argosy/rpc/in_process.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "argosy/rpc/work_pool.h"

namespace argosy::rpc {
namespace {

Buffer join_slices(const std::vector<Slice>& payload) {
  Buffer joined(payload_bytes(payload));
  std::byte* to = joined.data();
  for (const Slice& slice : payload) {
    if (slice.size > 0) std::memcpy(to, slice.data, slice.size);
    to += slice.size;
  }
  return joined;
}

// Runs callbacks, and ends calls whose deadline has passed. Owns the thread "rpc-callback"; thread-safe. Outlives its
// channel where a handler keeps a Reply.
class CallbackLoop {
 public:
  using CallId = uint64_t;

  CallbackLoop() : thread_("rpc-callback", [this] { run(); }) {}
  ~CallbackLoop() { stop("its channel was closed"); }

  // Registers a call and takes `done`; 0 after stop(), with `done` left alone.
  CallId begin(std::string what, Deadline deadline, Callback& done) {
    std::lock_guard lock(mutex_);
    if (stopped_) return 0;
    const CallId id = ++last_id_;
    calls_.emplace(id, Pending{std::move(what), deadline, std::move(done)});
    deadlines_.emplace(deadline.when(), id);
    changed_.notify_one();
    return id;
  }

  // Ends a call; does nothing where it has ended before.
  void end(CallId id, Result<Received> answer) {
    std::lock_guard lock(mutex_);
    end_locked(id, std::move(answer));
    changed_.notify_one();
  }

  bool ended(CallId id) const {
    std::lock_guard lock(mutex_);
    return !calls_.contains(id);
  }

  // Cancels all calls, and returns when their callbacks have run. Safe to call twice.
  void stop(const char* why) {
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
      while (!calls_.empty()) {
        const auto& [id, call] = *calls_.begin();
        end_locked(id, Status::cancelled("{} was cancelled: {}", call.what, why));
      }
      changed_.notify_one();
    }
    thread_.join();
  }

 private:
  struct Pending {
    std::string what;  // for messages
    Deadline deadline;
    Callback done;
  };
  struct Ended {
    Callback done;
    Result<Received> answer;
  };

  void end_locked(CallId id, Result<Received> answer) {
    const auto call = calls_.find(id);
    if (call == calls_.end()) return;
    ended_.push_back({std::move(call->second.done), std::move(answer)});
    deadlines_.erase({call->second.deadline.when(), id});
    calls_.erase(call);
  }

  void end_late_calls_locked() {
    while (!deadlines_.empty() && deadlines_.begin()->first <= SteadyClock::now()) {
      const CallId id = deadlines_.begin()->second;
      end_locked(id, Status::deadline_exceeded("{} was not answered in time", calls_.at(id).what));
    }
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      end_late_calls_locked();
      if (!ended_.empty()) {
        Ended next = std::move(ended_.front());
        ended_.pop_front();
        lock.unlock();
        next.done(std::move(next.answer));
        next.done = nullptr;
        lock.lock();
      } else if (stopped_) {
        return;
      } else if (deadlines_.empty()) {
        changed_.wait(lock);
      } else {
        changed_.wait_until(lock, SteadyClock::time_point(deadlines_.begin()->first));
      }
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // All guarded by mutex_. A call is in calls_ and deadlines_ until it ends, then in ended_ until its callback runs.
  std::map<CallId, Pending> calls_;
  std::set<std::pair<SteadyClock::time_point, CallId>> deadlines_;
  std::deque<Ended> ended_;
  CallId last_id_ = 0;
  bool stopped_ = false;
  Thread thread_;
};

class LoopSink final : public ReplySink {
 public:
  LoopSink(std::shared_ptr<CallbackLoop> loop, CallbackLoop::CallId id, uint16_t method)
      : loop_(std::move(loop)), id_(id), method_(method) {}

  void finish(Status status, std::string header, std::vector<Slice> payload) override {
    if (!status.ok()) return loop_->end(id_, std::move(status));
    loop_->end(id_, Received{method_, std::move(header), join_slices(payload)});
  }
  bool cancelled() const override { return loop_->ended(id_); }

 private:
  const std::shared_ptr<CallbackLoop> loop_;
  const CallbackLoop::CallId id_;
  const uint16_t method_;
};

class InProcessChannel final : public Channel {
 public:
  InProcessChannel(Handler handler, const InProcessOptions& options)
      : name_(options.name),
        handler_(std::move(handler)),
        loop_(std::make_shared<CallbackLoop>()),
        pool_("rpc-handler", options.threads) {}

  ~InProcessChannel() override {
    loop_->stop("its channel was closed");
    pool_.stop();
  }

  void call(Message message, Deadline deadline, Callback done) override {
    const auto id = loop_->begin(fmt::format("the call of method {} to {}", message.method, name_), deadline, done);
    if (id == 0) return done(Status::cancelled("the channel to {} is closed", name_));
    auto reply = std::make_shared<Reply>(std::make_shared<LoopSink>(loop_, id, message.method));
    pool_.add([this, message = std::move(message), deadline, reply]() mutable {
      if (reply->cancelled()) return;
      handler_(Request{message.method, std::move(message.header), join_slices(message.payload), name_, deadline},
               std::move(*reply));
    });
  }

  Status wait_ready(Deadline) override { return Status::ok_status(); }
  const std::string& peer() const override { return name_; }

 private:
  const std::string name_;
  const Handler handler_;
  const std::shared_ptr<CallbackLoop> loop_;
  WorkPool pool_;
};

}  // namespace

std::unique_ptr<Channel> connect_in_process(Handler handler, const InProcessOptions& options) {
  return std::make_unique<InProcessChannel>(std::move(handler), options);
}

}  // namespace argosy::rpc
