#include "argosy/ps/server/adoption.h"

#include "argosy/base/counted.h"
#include "argosy/base/log.h"
#include "argosy/ps/spec/job_spec_wire.h"

namespace argosy::ps {

Status Adoption::check(const wire::HelloRequest& hello, const std::string& caller) const {
  if (hello.version() != kProtocolVersion) {
    return Status::failed_precondition("{} speaks protocol version {}, {} version {}; install the same Argosy on all machines",
                                       name_, kProtocolVersion, caller, hello.version());
  }
  const bool asks_which = hello.asks() && hello.job().empty();
  if (!options_.job.empty() && hello.job() != options_.job && !asks_which) {
    return Status::failed_precondition("{} serves job '{}'; {} belongs to job '{}': do two jobs use one address?", name_,
                                       options_.job, caller, hello.job());
  }
  if (hello.asks()) return {};
  if (hello.servers() != static_cast<uint32_t>(options_.servers) || hello.server() != static_cast<uint32_t>(options_.server)) {
    return Status::failed_precondition("{} is server {} of {}; {} takes it for server {} of {}: give all processes the same list",
                                       name_, options_.server, options_.servers, caller, hello.server(), hello.servers());
  }
  if (!hello.observer() && options_.workers != 0 && hello.spec().workers() != static_cast<uint32_t>(options_.workers)) {
    return Status::failed_precondition("{} expects {}; {} says that the job has {}", name_, counted(options_.workers, "worker"),
                                       caller, hello.spec().workers());
  }
  if (hello.process_id() == 0) return Status::invalid_argument("{} gives no process_id", caller);
  return {};
}

Status Adoption::adopt(const wire::HelloRequest& hello, const std::string& caller) {
  ASSIGN_OR_RETURN(const JobSpec spec, from_wire(hello.spec()));
  if (const State* state = state_.get()) {
    if (hello.job() != state->job()) {
      return Status::failed_precondition("{} serves job '{}'; {} belongs to job '{}': do two jobs use one address?", name_,
                                         state->job(), caller, hello.job());
    }
    if (const auto different = difference(state->spec(), name_, spec, caller)) {
      return Status::failed_precondition("another schema: {}", *different);
    }
  } else {
    if (Status s = spec.check(); !s.ok()) return s.with_context("the job of {}", caller);
    ASSIGN_OR_RETURN(auto made, make_state(spec, hello.job()));
    state_.set(std::move(made));
    log_info("serves job '{}': {}, {} mode, {}", hello.job(), counted(spec.tables.size(), "table"), mode_name(spec.mode),
             counted(spec.workers, "worker"));
  }
  if (hello.worker() >= static_cast<uint32_t>(spec.workers)) {
    return Status::invalid_argument("{} is none of the job's {}", caller, counted(spec.workers, "worker"));
  }
  return {};
}

Result<std::unique_ptr<State>> Adoption::make_state(const JobSpec& spec, const std::string& job) const {
  StateOptions options;
  options.job = job;
  options.tables = {options_.servers, options_.server, options_.mem_limit_bytes, options_.directory / "cold"};
  options.mail.kept_bytes = options_.mailbox_limit_bytes;
  options.follows = !options_.follow.empty() && !options_.replica;
  options.may_lose = options_.settled_durability() == Durability::snapshot;
  options.mail.unread = &limits_.unread_mail;
  options.gatherings.open = &limits_.gatherings;
  options.gatherings.open_bytes = &limits_.gathering_bytes;
  options.names = &limits_.names;
  options.gatherings.answer = &limits_.answer;
  return State::make(spec, options);
}

}  // namespace argosy::ps
