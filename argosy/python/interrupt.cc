#include "argosy/python/interrupt.h"

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <thread>

#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"
#include "argosy/base/wait_check.h"

namespace argosy::python {
namespace {

namespace py = pybind11;
constexpr auto kPollPeriod = std::chrono::milliseconds(50);

std::atomic<int> interrupted_works{0};       // run_interruptibly() calls that wait for their work to end early
std::thread::id main_thread;                 // of Python; set once
thread_local std::exception_ptr raised_here;  // by a handler, in a wait of run_without_gil()
thread_local bool may_raise_here = false;    // inside run_without_gil()

// What a signal handler has raised since the last look; null where nothing.
std::exception_ptr raised_by_signals() {
  const py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() == 0) return nullptr;
  return std::make_exception_ptr(py::error_already_set());
}

bool check_wait() {
  if (interrupted_works > 0) return true;
  if (!may_raise_here || std::this_thread::get_id() != main_thread) return false;
  if (raised_here == nullptr) raised_here = raised_by_signals();
  return raised_here != nullptr;
}

// While it lives, waits of all threads end early.
class InterruptedWork {
 public:
  InterruptedWork() { ++interrupted_works; }
  ~InterruptedWork() { --interrupted_works; }
  InterruptedWork(const InterruptedWork&) = delete;
};

}  // namespace

void install_wait_check() {
  main_thread = std::this_thread::get_id();
  set_wait_check(&check_wait);
}

void run_interruptibly(const std::function<void()>& work, const std::function<void()>& stop) {
  std::exception_ptr raised;
  {
    const py::gil_scoped_release release;
    Mutex mutex;
    ConditionVariable changed;
    bool done = false;  // guarded by mutex
    const Thread worker("interruptible", [&] {
      work();
      const MutexLock lock(mutex);
      done = true;
      changed.notify_one();
    });
    const auto ended = [&] {
      MutexLock lock(mutex);
      return changed.wait_for(lock, kPollPeriod, [&] { return done; });
    };
    std::optional<InterruptedWork> interrupted;
    while (!ended()) {
      if (raised == nullptr) raised = raised_by_signals();
      if (raised == nullptr) continue;
      if (!interrupted) interrupted.emplace();
      stop();
    }
  }
  if (raised != nullptr) std::rethrow_exception(raised);
}

void run_without_gil(const std::function<void()>& work) {
  const bool outer = std::exchange(may_raise_here, true);
  try {
    const py::gil_scoped_release release;
    work();
  } catch (...) {
    may_raise_here = outer;
    if (raised_here == nullptr) throw;
  }
  may_raise_here = outer;
  if (raised_here != nullptr) std::rethrow_exception(std::exchange(raised_here, nullptr));
}

}  // namespace argosy::python
