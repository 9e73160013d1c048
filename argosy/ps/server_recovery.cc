#include "argosy/ps/server_core.h"

namespace argosy::ps {

Result<std::unique_ptr<State>> Core::make_state(const JobSpec& spec, const std::string& job) const {
  StateOptions options;
  options.job = job;
  options.tables = {options_.servers, options_.server, options_.mem_limit_bytes, options_.directory / "cold"};
  options.exchange.mail_bytes = options_.mailbox_limit_bytes;
  return State::make(spec, options);
}

Status Core::recover() {
  if (options_.spec) {
    ASSIGN_OR_RETURN(owned_state_, make_state(*options_.spec, options_.job));
    state_ = owned_state_.get();
  }
  if (durability_ == Durability::wal || durability_ == Durability::wal_sync) RETURN_IF_ERROR(recover_log());
  if (state_.load() != nullptr) state_.load()->members().touch_all();
  return {};
}

// A log without a snapshot begins with the hello of the first worker, which says what the job is.
Status Core::recover_log() {
  ASSIGN_OR_RETURN(journal_, Journal::open(options_.directory / "log",
                                           {.sync = durability_ == Durability::wal_sync, .max_bytes = options_.log_limit_bytes}));
  return journal_->replay(log_start_ == 0 ? journal_->log().first() : log_start_, [this](const Record& record) -> Status {
    restored_ = true;
    if (state_.load() == nullptr) {
      if (record.method != wire::HELLO) return Status::data_loss("the log does not begin with a worker's hello");
      ASSIGN_OR_RETURN(const auto hello, parse<wire::HelloRequest>(record));
      const std::string directory = fmt::format("the directory {}", options_.directory.string());
      RETURN_IF_ERROR(check_hello(hello, directory));
      RETURN_IF_ERROR(adopt(hello, directory));
    }
    return state_.load()->apply(record);
  });
}

}  // namespace argosy::ps
