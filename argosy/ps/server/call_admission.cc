#include "argosy/ps/server/call_admission.h"

#include "argosy/base/log.h"
#include "argosy/base/plant.h"

namespace argosy::ps {

State* CallAdmission::admit(const CallPtr& call, const wire::Caller& caller, Allow allow) {
  if (Status s = run_.check(caller.run()); caller.incarnation() != 0 && !s.ok() && !ARGOSY_PLANTED("another_run_admitted")) {
    call->fail(s.with_context("worker {} ({}) and {} do not belong together", caller.worker(), call->request.peer, name_));
    return nullptr;
  }
  State* state = state_.get();
  const bool same_job = state == nullptr || caller.job() == state->job();
  if (replication_ != nullptr && caller.incarnation() != 0 && same_job) {
    if (const Status s = replication_->check_epoch(caller.epoch()); !s.ok()) {
      call->fail(Status::unavailable("{}", s.message()));  // the other process answers
      return nullptr;
    }
  }
  if (state == nullptr) {
    call->fail(caller.incarnation() == 0 ? Status::failed_precondition(
                                               "{} serves no job yet; workers introduce themselves with Hello first ({} did not)",
                                               name_, call->request.peer)
                                         : forgotten(caller));
    return nullptr;
  }
  if (!same_job) {
    call->fail(Status::failed_precondition("{} serves job '{}'; {} belongs to job '{}'", name_, state->job(), call->request.peer,
                                           caller.job()));
    return nullptr;
  }
  if (Status s = check_caller(*state, caller, allow); !s.ok()) {
    call->fail(s.code() == Code::unauthenticated ? s.with_context("{}", call->request.peer) : s);
    return nullptr;
  }
  return state;
}

Status CallAdmission::check_caller(State& state, const wire::Caller& caller, Allow allow) {
  if (caller.incarnation() == 0) {
    return Status::unauthenticated("{} answers nothing before Hello; say Hello first, as a worker or as an observer", name_);
  }
  if (Observers::is_number(caller.incarnation())) {
    if (allow != Allow::observers) return Status::failed_precondition("an observer only reads; {} does this for workers", name_);
    if (observers_.knows(caller.incarnation())) return {};
    return Status::unauthenticated("{} does not know this observer (any more); say Hello again", name_);
  }
  bool compared = false;
  Status s = state.members().check(caller.worker(), caller.incarnation(), &compared);
  if (s.code() == Code::failed_precondition) s = lossy_ ? readmit(state, caller) : forgotten(caller);
  if (!s.ok() || compared || allow == Allow::not_compared || ARGOSY_PLANTED("restart_not_compared")) return s;
  return Status::unauthenticated("{} was started again, and worker {} has not compared yet what it has", name_, caller.worker());
}

// A worker that came after the last snapshot goes on as it was: what it did since is lost, as durability=snapshot says.
Status CallAdmission::readmit(State& state, const wire::Caller& caller) {
  if (state.members().adopt(caller.worker(), caller.incarnation())) {  // or another call of it was faster
    ++counts_.news;
    ++counts_.changes;
    log_warning("worker {} came after the last snapshot; it goes on, without what it had sent since", caller.worker());
  }
  return state.members().check(caller.worker(), caller.incarnation());
}

Status CallAdmission::forgotten(const wire::Caller& caller) const {
  return Status::failed_precondition(
      "{} does not know worker {} any more: it was started again without what it held (durability={}). Start the job again, and "
      "give servers a directory (--directory) so that they keep their state",
      name_, caller.worker(), durability_name(durability_));
}

}  // namespace argosy::ps
