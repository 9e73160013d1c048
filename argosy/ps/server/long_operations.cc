#include "argosy/ps/server/long_operations.h"

#include <algorithm>
#include <iterator>

#include "argosy/base/mutex.h"

namespace argosy::ps {
namespace {

constexpr size_t kMostRemembered = 64;
constexpr size_t kMostCancelled = 256;
constexpr size_t kMostWaiting = 64;  // calls for one operation; others are answered at once
constexpr double kAnswerSeconds = 1;

Status cancelled() { return Status::cancelled("it was cancelled; nothing was changed"); }
Status stopping() { return Status::unavailable("the server is stopping"); }

// Nothing was done, and a caller that repeats the same bytes wants it to be tried again.
bool may_be_tried_again(const Status& status) {
  return status.code() == Code::unavailable || status.code() == Code::deadline_exceeded;
}

// For people.
std::string name_of(wire::Method method) {
  switch (method) {
    case wire::SAVE_SNAPSHOT: return "save";
    case wire::LOAD_SNAPSHOT: return "load";
    default: return "maintenance";
  }
}

double patience(const Call& call) {
  const double all = std::chrono::duration<double>(call.request.deadline.when() - call.arrived).count();
  return std::clamp(all / 4, 0.0, kAnswerSeconds);
}

}  // namespace

// ---- One operation.

LongOperations::Operation::Operation(const Key& what, std::string with)
    : key(what), request(std::move(with)), shown_(std::make_unique<Progress>(name_of(what.method))) {}

Status LongOperations::Operation::progress(uint64_t rows) {
  done_ += rows;
  const uint64_t total = total_;
  if (shown_ != nullptr && total > 0) shown_->set(static_cast<double>(done_) / static_cast<double>(total));
  return alive();
}

Status LongOperations::Operation::alive() const {
  if (cancelled_) return cancelled();
  MutexLock lock(mutex_);
  if (!caller_ || since_asked_.seconds() < kAbandonedSeconds) return {};
  return Status::cancelled("worker {} has not asked for it for {:.0f} s; nothing was changed", caller_->worker(),
                           since_asked_.seconds());
}

void LongOperations::Operation::set_asked(const wire::Caller& caller, uint64_t attempt) {
  MutexLock lock(mutex_);
  caller_ = caller;
  attempt_ = attempt;
  since_asked_.restart();
}

uint64_t LongOperations::Operation::attempt() const {
  MutexLock lock(mutex_);
  return attempt_;
}

std::optional<wire::Caller> LongOperations::Operation::caller() const {
  MutexLock lock(mutex_);
  return caller_;
}

// ---- All of them.

LongOperations::OperationPtr LongOperations::ask(const Key& key, const wire::Caller& caller, uint64_t attempt,
                                                 const CallPtr& call) {
  OperationPtr is_new;
  std::optional<Result<std::string>> known;
  {
    MutexLock lock(mutex_);
    if (stopped_) {
      known = Result<std::string>(stopping());
    } else if (std::ranges::find(cancelled_, attempt) != cancelled_.end()) {
      const auto operation = operations_.find(key);  // it may have been done before it was cancelled
      const bool done = operation != operations_.end() && operation->second->answer_ && operation->second->answer_->ok();
      known = done ? *operation->second->answer_ : Result<std::string>(cancelled());
    } else {
      OperationPtr& operation = operations_[key];
      const bool failed = operation != nullptr && operation->answer_ && !operation->answer_->ok();
      const bool again = failed && std::ranges::find(operation->over_, attempt) == operation->over_.end();
      if (operation == nullptr || again) {
        is_new = std::make_shared<Operation>(key, call->request.header);
        if (again) is_new->over_ = operation->over_;
        if (again) std::erase(done_, key);
        operation = is_new;
      }
      operation->set_asked(caller, attempt);
      known = operation->answer_;
      if (!known && operation->waiting_.size() >= kMostWaiting) known = Result<std::string>(operation->running());
      if (!known) operation->waiting_.push_back(call);
    }
  }
  if (known) answer(call, *known);
  return is_new;
}

LongOperations::OperationPtr LongOperations::begin(const Key& key, std::string request) {
  MutexLock lock(mutex_);
  return operations_[key] = std::make_shared<Operation>(key, std::move(request));
}

Result<std::string> LongOperations::wait(const OperationPtr& operation, Deadline deadline) {
  MutexLock lock(mutex_);
  const bool done = finished_.wait_until(lock, deadline.when(),
                                         [&]() ARGOSY_REQUIRES(mutex_) { return stopped_ || operation->answer_.has_value(); });
  if (operation->answer_) return *operation->answer_;
  operation->cancelled_ = true;
  return done ? stopping() : Status::deadline_exceeded("it is not done by the deadline, and was cancelled");
}

void LongOperations::finish(const OperationPtr& operation, Result<std::string> result) {
  std::vector<CallPtr> waiting;
  operation->shown_.reset();
  {
    MutexLock lock(mutex_);
    operation->answer_ = result;
    if (!result.ok()) operation->over_.push_back(operation->attempt());
    waiting = std::exchange(operation->waiting_, {});
    done_.push_back(operation->key);
    const bool forget = !result.ok() && may_be_tried_again(result.status());
    if (forget || done_.size() > kMostRemembered) {
      const Key gone = forget ? done_.back() : done_.front();
      forget ? done_.pop_back() : done_.pop_front();
      operations_.erase(gone);
    }
  }
  finished_.notify_all();
  for (const CallPtr& call : waiting) answer(call, result);
}

bool LongOperations::cancel(uint64_t id, uint64_t attempt) {
  MutexLock lock(mutex_);
  cancelled_.push_back(attempt);
  if (cancelled_.size() > kMostCancelled) cancelled_.pop_front();
  bool any = false;
  for (const auto& [key, operation] : operations_) {
    if (key.id != id || operation->answer_ || operation->attempt() != attempt) continue;
    operation->cancelled_ = true;
    any = true;
  }
  return any;
}

void LongOperations::answer(const CallPtr& call, const Result<std::string>& answer) {
  answer.ok() ? call->send({*answer}) : call->fail(answer.status());
}

std::string LongOperations::Operation::running() const {
  wire::SaveSnapshotReply running;  // LoadSnapshotReply has the same fields
  running.set_running(true);
  running.set_rows_done(done_);
  running.set_rows_total(total_);
  return running.SerializeAsString();
}

void LongOperations::answer_due() {
  std::vector<std::pair<CallPtr, std::string>> due;
  {
    MutexLock lock(mutex_);
    for (const auto& [key, operation] : operations_) {
      const std::string running = operation->running();
      std::erase_if(operation->waiting_, [&](const CallPtr& call) {
        if (call->reply.cancelled()) return true;
        if (call->waited_seconds() < patience(*call)) return false;
        due.emplace_back(call, running);
        return true;
      });
    }
  }
  for (auto& [call, running] : due) call->send({std::move(running)});
}

void LongOperations::stop() {
  std::vector<CallPtr> waiting;
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    for (const auto& [key, operation] : operations_) {
      operation->cancelled_ = true;
      std::ranges::move(operation->waiting_, std::back_inserter(waiting));
      operation->waiting_.clear();
    }
  }
  finished_.notify_all();
  for (const CallPtr& call : waiting) call->fail(stopping());
}

}  // namespace argosy::ps
