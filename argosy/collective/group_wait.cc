// How a call of a group waits: on the CPU in slices, so that somebody who pressed Ctrl-C does not wait for the deadline. On a GPU
// NCCL would take the end of a slice for that of the call, and a wait belongs to the stream of the thread that waits.
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"
#include "argosy/base/wait_check.h"
#include "argosy/collective/group.h"
#include "argosy/collective/group_shared.h"
#include "argosy/collective/guard.h"

namespace argosy::collective {
namespace {

constexpr auto kSlice = std::chrono::milliseconds(50);

}  // namespace

Status Group::await(c10d::Work& work, const std::string& call) {
  if (!device_.is_cpu()) return explain(guarded([&] { work.wait(shared_->timeout); }), call);
  const auto deadline = std::chrono::steady_clock::now() + shared_->timeout;
  while (!work.isCompleted() && std::chrono::steady_clock::now() < deadline) {
    const Status slice = guarded([&] { work.wait(kSlice); });
    if (slice.ok()) return slice;
    if (!work.isCompleted() && wait_cancelled()) return cancelled(call);
  }
  return explain(guarded([&] { work.wait(kSlice); }), call);
}

// Gloo takes a wait for a message that timed out for the end of the connection, so that a thread of its own does it.
Status Group::await_message(c10d::Work& work, const std::string& call) {
  if (!device_.is_cpu()) return explain(guarded([&] { work.wait(shared_->timeout); }), call);
  Mutex mutex;
  ConditionVariable changed;
  bool done = false;  // guarded by mutex
  Status status;
  Thread waiting("message", [&] {
    const Status ended = guarded([&] { work.wait(shared_->timeout); });
    const MutexLock lock(mutex);
    status = ended;
    done = true;
    changed.notify_one();
  });
  const auto ended = [&] {
    MutexLock lock(mutex);
    return changed.wait_for(lock, kSlice, [&] { return done; });
  };
  bool aborted = false;
  while (!ended()) {
    if (!wait_cancelled()) continue;
    aborted = true;
    static_cast<void>(guarded([&] { work.abort(); }));  // again and again: one that comes before the wait is lost
  }
  waiting.join();
  return aborted ? cancelled(call) : explain(status, call);
}

Status Group::cancelled(const std::string& call) {
  // Never destroyed: a thread of it stays in the call, and destroying it would wait for that thread.
  static_cast<void>(new c10::intrusive_ptr<c10d::ProcessGroup>(c10d_));
  return Status(Code::cancelled, fmt::format("{} was cancelled while it waited for the others", call));
}

}  // namespace argosy::collective
