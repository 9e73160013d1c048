#include "argosy/python/interrupt.h"

#include <pybind11/pybind11.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "argosy/base/thread.h"

namespace argosy::python {
namespace {

namespace py = pybind11;
constexpr auto kPollPeriod = std::chrono::milliseconds(50);

// What a signal handler has raised since the last look; null where nothing.
std::exception_ptr raised_by_signals() {
  const py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() == 0) return nullptr;
  return std::make_exception_ptr(py::error_already_set());
}

}  // namespace

void run_interruptibly(const std::function<void()>& work, const std::function<void()>& stop) {
  std::exception_ptr raised;
  {
    const py::gil_scoped_release release;
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;  // guarded by mutex
    const Thread worker("interruptible", [&] {
      work();
      const std::lock_guard lock(mutex);
      done = true;
      changed.notify_one();
    });
    const auto ended = [&] {
      std::unique_lock lock(mutex);
      return changed.wait_for(lock, kPollPeriod, [&] { return done; });
    };
    while (!ended()) {
      if (raised == nullptr) raised = raised_by_signals();
      if (raised != nullptr) stop();
    }
  }
  if (raised != nullptr) std::rethrow_exception(raised);
}

}  // namespace argosy::python
