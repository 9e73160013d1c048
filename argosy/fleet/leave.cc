#include "argosy/fleet/leave.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"
#include "argosy/base/wait_check.h"

namespace argosy::fleet {
namespace {

constexpr double kSeconds = 60;  // nobody waits longer for a process that has done its work

struct Leaving {
  Mutex mutex;
  std::vector<std::shared_ptr<RemoteWorker>> workers ARGOSY_GUARDED_BY(mutex);
  pid_t process ARGOSY_GUARDED_BY(mutex) = 0;  // that has them
};

// Leaked on purpose: it is used while static objects are destroyed.
Leaving& leaving() {
  static Leaving& instance = *new Leaving;
  return instance;
}

bool close_in_time(RemoteWorker& worker) {
  if (const Status status = worker.unfinished(); !status.ok()) {
    log_error("the process ends, and {}", status.message());
    worker.fail(fmt::format("did not finish: {}", status.message()));
    return false;
  }
  bool well = true;  // written by the thread, read after its end
  Mutex mutex;
  ConditionVariable changed;
  bool done = false;  // guarded by mutex
  Thread closer("leave", [&] {
    if (const Status status = worker.close(); !status.ok()) {
      log_error("leaving the job at the process's end: {}", status.message());
      well = false;
    }
    MutexLock lock(mutex);
    done = true;
    changed.notify_all();
  });
  MutexLock lock(mutex);
  if (!changed.wait_until(lock, Deadline::after_seconds(kSeconds).when(), [&] { return done; }))
    set_wait_check([] { return true; });
  lock.unlock();
  closer.join();
  return well;
}

// Python, which waits may ask about signals, has ended before.
void leave(int status, void*) {
  set_wait_check(nullptr);
  std::vector<std::shared_ptr<RemoteWorker>> workers;
  {
    MutexLock lock(leaving().mutex);
    if (leaving().process == ::getpid()) workers.swap(leaving().workers);
  }
  bool well = true;
  for (const auto& worker : workers) {
    if (!worker->connected()) continue;
    if (status == 0)
      well = close_in_time(*worker) && well;
    else
      worker->fail(fmt::format("ended with status {}", status));
  }
  if (well) return;
  std::fflush(nullptr);
  ::_exit(1);  // a supervisor must not take this process for one that has done its work
}

}  // namespace

void leave_at_exit(std::shared_ptr<RemoteWorker> worker) {
  MutexLock lock(leaving().mutex);
  auto& workers = leaving().workers;
  if (leaving().process != ::getpid()) {
    leaving().process = ::getpid();
    workers.clear();
    ::on_exit(&leave, nullptr);
  }
  if (std::find(workers.begin(), workers.end(), worker) == workers.end()) workers.push_back(std::move(worker));
}

}  // namespace argosy::fleet
