// What a process does with the directory of the one before it.
#include <algorithm>

#include "argosy/base/notice.h"
#include "argosy/base/text.h"
#include "argosy/ps/job_spec_wire.h"
#include "argosy/ps/server_core.h"
#include "argosy/ps/state_snapshot.h"
#include "argosy/table/snapshot_store.h"

namespace argosy::ps {

Result<std::unique_ptr<State>> Core::make_state(const JobSpec& spec, const std::string& job) {
  StateOptions options;
  options.job = job;
  options.tables = {options_.servers, options_.server, options_.mem_limit_bytes, options_.directory / "cold"};
  options.exchange.mail_bytes = options_.mailbox_limit_bytes;
  options.may_lose = durability_ == Durability::snapshot;
  options.exchange.unread_mail = &limits_.unread_mail;
  options.exchange.gatherings = &limits_.gatherings;
  options.exchange.gathering_bytes = &limits_.gathering_bytes;
  options.exchange.names = &limits_.names;
  options.exchange.answer = &limits_.answer;
  return State::make(spec, options);
}

Status Core::recover() {
  if (durability_ != Durability::none && !options_.only_recover) {
    ASSIGN_OR_RETURN(folder_, ServerFolder::open(options_));
    if (folder_->found()) run_.restore(folder_->found()->run);
  }
  const Status recovered = recover_state();
  if (folder_ != nullptr && folder_->untold()) {
    untrained_ = !recovered.ok() || state_.load() == nullptr || state_.load()->batches() == 0;
    return folder_->refusal();
  }
  RETURN_IF_ERROR(recovered);
  importing_ = options_.import_first && (!restored_ || (state_.load() != nullptr && state_.load()->importing()));
  if (state_.load() != nullptr && state_.load()->importing()) RETURN_IF_ERROR(forget_half_import());
  if (state_.load() != nullptr) {
    state_.load()->members().touch_all();
    steps_due_ = true;  // the process before may have died between a step's last push and its commit
  }
  return options_.only_recover ? Status() : recover_run();
}

Status Core::recover_state() {
  if (durability_ != Durability::none) RETURN_IF_ERROR(recover_snapshot());
  if (state_.load() == nullptr && options_.spec) {
    ASSIGN_OR_RETURN(owned_state_, make_state(*options_.spec, options_.job));
    state_ = owned_state_.get();
  }
  const std::filesystem::path log = options_.directory / "log";
  if (durability_ == Durability::wal || durability_ == Durability::wal_sync) {
    RETURN_IF_ERROR(recover_log(log));
  } else if (std::error_code error; durability_ == Durability::snapshot && std::filesystem::exists(log, error)) {
    return Status::failed_precondition(
        "{} exists, and durability=snapshot would not read it; use durability=wal or another directory", log.string());
  }
  return {};
}

Status Core::take_over(std::span<const table::Snapshot> parts, const wire::StateImage& image) {
  RETURN_IF_ERROR(read_tables(parts, state_.load()->tables()).status());
  RETURN_IF_ERROR(state_.load()->restore(image));
  ++changes_;
  return {};
}

// Which run this process belongs to: that of the one before it, or a new one.
Status Core::recover_run() {
  const bool finished = state_.load() != nullptr && state_.load()->members().all_done();
  const bool over = finished && folder_->same_run();
  if (over) end_if_done();  // its process died before it had ended
  if (finished && !over) {
    if (options_.on_old_state != OnOldState::resume) return folder_->refusal();
    run_.restore("");
  }
  run_.settle();
  if (finished && !over) RETURN_IF_ERROR(begin_again());
  if (folder_ == nullptr) return {};
  RunProgress progress = run_progress();
  progress.rows = count_rows();
  const Status begun = folder_->begin(progress, finished && !over);
  if (begun.ok() || !folder_->same_run()) return begun;
  report_log_error(begun.with_context(
      "the record of the run"));  // the one that is there is of this run: a full disk is no reason to stay away
  return {};
}

RunProgress Core::run_progress() const {
  RunProgress progress{.job = options_.job, .run = run_.id()};
  const State* state = state_.load();
  if (state == nullptr) return progress;
  progress.job = state->job();
  progress.batches = state->batches();
  progress.finished = state->members().all_done();
  std::optional<uint64_t> passes;
  for (int i = 0; i < state->members().workers(); ++i) {
    const Membership::Worker worker = state->members().worker(i);
    if (worker.phase != Membership::Phase::lost)
      passes = std::min<uint64_t>(passes.value_or(worker.window.round()), worker.window.round());
  }
  progress.passes = passes.value_or(0);
  return progress;
}

uint64_t Core::count_rows() const {
  uint64_t rows = 0;
  const State* state = state_.load();
  for (size_t i = 0; state != nullptr && i < state->tables().size(); ++i) {
    if (state->tables().is_sparse(i)) rows += state->tables().sparse(i).size().rows;
  }
  return rows;
}

// The record is for people and launchers: that it could not be written is said, and stops nothing.
void Core::note_run(bool now) {
  if (folder_ == nullptr) return;
  RunProgress progress = run_progress();
  if (!now && !folder_->note_due(progress)) return;
  progress.rows = count_rows();
  if (const Status s = folder_->note(progress, now); !s.ok()) report_log_error(s.with_context("the record of the run"));
}

// The tables of a finished run are where the next one begins.
Status Core::begin_again() {
  notice("the run in {} has finished; a new one begins with its tables", options_.directory.string());
  RETURN_IF_ERROR(state_.load()->begin_again());
  return snapshotter_.cut();
}

// The process before died while it was given its first values. Nobody has seen them: it begins with empty tables.
Status Core::forget_half_import() {
  if (!options_.import_first) {
    return Status::failed_precondition(
        "the process before this one died while a model was loaded into {}, which holds a part of it; start the server with the "
        "same "
        "model again (init_server with its folder), or give it another directory",
        options_.directory.string());
  }
  log_warning("the process before died while its tables got their first values; {} begins again with empty ones", name_);
  const JobSpec spec = state_.load()->spec();
  const std::string job = state_.load()->job();
  state_ = nullptr;
  owned_state_.reset();  // its cold rows are in the folder that the next one uses
  ASSIGN_OR_RETURN(owned_state_, make_state(spec, job));
  state_ = owned_state_.get();
  restored_ = false;
  return snapshotter_.cut();
}

// A server has completed its part. (A process that died in its first snapshot leaves a folder without one.)
bool is_snapshot(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with("server-") && entry.path().extension().empty()) return true;
  }
  return false;
}

// The newest snapshot of the directory, if there is one.
Status Core::recover_snapshot() {
  const std::filesystem::path root = options_.directory / "snapshots";
  const table::OneServer me{static_cast<uint32_t>(options_.server), static_cast<uint32_t>(options_.servers)};
  ASSIGN_OR_RETURN(const auto numbers, table::list_snapshots(root));
  if (numbers.empty()) return {};
  snapshotter_.recovered(numbers.back() + 1, 0);
  ASSIGN_OR_RETURN(const auto snapshot, table::latest_snapshot(root, me));
  const auto complete = [&](uint64_t number) { return is_snapshot(table::numbered_snapshot(root, number)); };
  if (!snapshot && std::ranges::none_of(numbers, complete)) return {};
  if (!snapshot) {
    return Status::data_loss(
        "{} has snapshots, but none that server {} of {} can use: see the lines above, or choose another directory",
        root.string(), options_.server, options_.servers);
  }
  Stopwatch watch;
  wire::StateImage image;
  if (!image.ParseFromString(snapshot->states().at(0))) {
    return Status::data_loss("{}: its state cannot be read", snapshot->folder().string());
  }
  if (snapshot->folder() != table::numbered_snapshot(root, numbers.back())) {
    log_warning("recovers from the older snapshot {}; what came after it is {}", snapshot->folder().string(),
                durability_ == Durability::snapshot ? "lost" : "in the log");
  }
  wire::HelloRequest as_hello;  // the same questions as to a worker
  as_hello.set_version(kProtocolVersion);
  as_hello.set_job(image.job());
  as_hello.set_servers(image.servers());
  as_hello.set_server(image.server());
  *as_hello.mutable_spec() = image.spec();
  as_hello.set_process_id(1);
  const std::string directory = fmt::format("the directory {}", options_.directory.string());
  RETURN_IF_ERROR(check_hello(as_hello, directory));
  if (options_.spec) {
    ASSIGN_OR_RETURN(const JobSpec found, from_wire(image.spec()));
    if (const auto different = difference(*options_.spec, name_, found, directory)) {
      return Status::failed_precondition("another schema: {}", *different);
    }
  }
  RETURN_IF_ERROR(adopt(as_hello, directory));
  RETURN_IF_ERROR(restore_from(*snapshot).with_context("{}", snapshot->folder().string()));
  log_start_ = image.log_position();
  snapshotter_.recovered(numbers.back() + 1, log_start_);
  restored_ = true;
  lossy_ = durability_ == Durability::snapshot;
  notice("took up {} in {:.3f} s", snapshot->folder().string(), watch.seconds());
  return {};
}

Status Core::restore_from(const table::Snapshot& snapshot) {
  StateImageReader state;
  const ReadOptions how{.only = {}, .state = [&](std::string_view piece) { return state.add(piece); }};
  RETURN_IF_ERROR(read_tables(snapshot, state_.load()->tables(), how).status());
  ASSIGN_OR_RETURN(const wire::StateImage image, std::move(state).finish(snapshot.states().at(0)));
  return state_.load()->restore(image);
}

// A hello of the log says which run it was, and the first one what the job is.
Status Core::recover_hello(const Record& record) {
  ASSIGN_OR_RETURN(const auto hello, parse<wire::HelloRequest>(record));
  const bool recorded = folder_ != nullptr && folder_->found() && !folder_->found()->run.empty();
  if (!recorded && !hello.run().empty()) run_.restore(hello.run());
  if (state_.load() != nullptr) return {};
  const std::string directory = fmt::format("the directory {}", options_.directory.string());
  RETURN_IF_ERROR(check_hello(hello, directory));
  return adopt(hello, directory);
}

// A log without a snapshot begins with the hello of the first worker.
Status Core::recover_log(const std::filesystem::path& folder) {
  auto journal = Journal::open(folder, {.sync = durability_ == Durability::wal_sync,
                                        .sync_seconds = durability_ == Durability::wal ? options_.log_sync_seconds : 0,
                                        .max_bytes = options_.log_limit_bytes});
  if (!journal.ok()) return journal.status().code() == Code::data_loss ? cannot_recover(journal.status()) : journal.status();
  journal_ = std::move(*journal);
  Stopwatch watch;
  int64_t records = 0;
  const Status replayed = journal_->replay(replay_from(journal_->log().first()), [&](const Record& record) {
    ++records;
    return replay_record(record);
  });
  if (!replayed.ok()) return cannot_recover(replayed);
  if (records > 0) notice("replayed {} records of the log in {:.3f} s", with_thousands(records), watch.seconds());
  return {};
}

// Where the log goes on behind the snapshot that was taken up.
uint64_t Core::replay_from(uint64_t first) const { return state_.load() != nullptr && log_start_ != 0 ? log_start_ : first; }

Status Core::replay_record(const Record& record) {
  if (state_.load() == nullptr && record.method != wire::HELLO)
    return Status::data_loss("the log does not begin with a worker's hello");
  if (record.method == wire::HELLO) RETURN_IF_ERROR(recover_hello(record));
  restored_ = true;
  ++changes_;
  return state_.load()->apply(record);
}

// A log that cannot be read or applied stays so however often the server is started: only a person can decide about it.
Status Core::cannot_recover(const Status& status) const {
  if (status.code() == Code::unavailable || status.code() == Code::resource_exhausted) return status;
  return Status(status.code(), fmt::format("{}. `argosy repair {}` lists what cannot be read or applied, and with --set-aside "
                                           "moves it out of the log, so that the server starts without it",
                                           status.message(), options_.directory.string()));
}

}  // namespace argosy::ps
