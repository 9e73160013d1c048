#include "argosy/ps/server/periodic_work.h"

namespace argosy::ps {
namespace {

constexpr double kTickSeconds = 0.05;

}  // namespace

void PeriodicWork::add(double every_seconds, std::function<void(double)> work) {
  tasks_.push_back({.every = every_seconds, .work = std::move(work), .since = {}});
}

void PeriodicWork::start() {
  for (Task& task : tasks_) task.since.restart();
  thread_ = Thread("ps-periodic", [this] { run(); });
}

void PeriodicWork::run() {
  while (!ending_.wait_for_stop(Deadline::after_seconds(kTickSeconds))) {
    for (Task& task : tasks_) {
      const double since = task.since.seconds();
      if (since < task.every) continue;
      task.since.restart();
      task.work(since);
    }
  }
}

}  // namespace argosy::ps
