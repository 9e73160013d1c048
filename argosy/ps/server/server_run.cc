#include "argosy/ps/server/server_run.h"

#include "argosy/base/mutex.h"
#include "argosy/base/run_id.h"

namespace argosy::ps {

RunGuard::RunGuard(std::string given, bool first_server) : given_(!given.empty()), first_server_(first_server) { set(given); }

void RunGuard::set(const std::string& id) {
  ids_.push_back(id);
  id_ = &ids_.back();
}

void RunGuard::restore(const std::string& id) {
  MutexLock lock(mutex_);
  if (!given_ && id != this->id()) set(id);
}

void RunGuard::settle() {
  MutexLock lock(mutex_);
  if (id().empty() && first_server_) set(draw_run_id());
}

Status RunGuard::check_hello(std::string_view run) const {
  const std::string& own = id();
  if (!run.empty()) return check(run);
  if (first_server_ && !given_) return {};
  if (own.empty())
    return Status::failed_precondition(
        "the worker names no run, and this server has none yet: server 0 tells a worker which it is");
  return Status::failed_precondition(
      "the server belongs to run {}, and the worker names none: start it with the launcher of that run, or give all processes "
      "the "
      "same ARGOSY_RUN_ID",
      own);
}

Status RunGuard::take(const std::string& run) {
  MutexLock lock(mutex_);
  if (id().empty() && !run.empty()) set(run);
  return check_hello(run);
}

Status RunGuard::check(std::string_view run) const {
  const std::string& own = id();
  if (own.empty() || run == own) return {};
  return Status::failed_precondition(
      "the server belongs to run {}, the worker to {}. Either an earlier run left the worker behind, or another job's: end it, "
      "or "
      "choose another port; or the server was started again without what it held (durability=none) and began a new run: start "
      "the "
      "job again, and give servers a directory (--directory) so that they keep their state",
      own, run.empty() ? "none" : fmt::format("run {}", run));
}

}  // namespace argosy::ps
