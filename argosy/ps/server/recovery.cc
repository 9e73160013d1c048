#include "argosy/ps/server/recovery.h"

#include <algorithm>

#include "argosy/base/counted.h"
#include "argosy/base/notice.h"
#include "argosy/base/progress.h"
#include "argosy/base/text.h"
#include "argosy/ps/server/snapshot_folder.h"
#include "argosy/ps/spec/job_spec_wire.h"
#include "argosy/ps/state/state_snapshot.h"
#include "argosy/table/snapshot_store.h"

namespace argosy::ps {

Status Recovery::recover(const ServerFolder* folder) {
  folder_ = folder;
  const Durability durability = options_.settled_durability();
  if (durability != Durability::none) RETURN_IF_ERROR(recover_snapshot());
  if (!state_ && options_.spec) {
    ASSIGN_OR_RETURN(auto made, adoption_.make_state(*options_.spec, options_.job));
    state_.set(std::move(made));
  }
  const std::filesystem::path log = options_.directory / "log";
  if (durability == Durability::wal || durability == Durability::wal_sync) {
    RETURN_IF_ERROR(recover_log(log));
  } else if (std::error_code error; durability == Durability::snapshot && std::filesystem::exists(log, error)) {
    return Status::failed_precondition(
        "{} exists, and durability=snapshot would not read it; use durability=wal or another directory", log.string());
  }
  return {};
}

// The newest snapshot of the directory, if there is one.
Status Recovery::recover_snapshot() {
  const Durability durability = options_.settled_durability();
  const std::filesystem::path root = options_.directory / "snapshots";
  const table::OneServer me{static_cast<uint32_t>(options_.server), static_cast<uint32_t>(options_.servers)};
  ASSIGN_OR_RETURN(const auto numbers, table::list_snapshots(root));
  if (numbers.empty()) return {};
  next_snapshot_ = numbers.back() + 1;
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
                durability == Durability::snapshot ? "lost" : "in the log");
  }
  wire::HelloRequest as_hello;  // the same questions as to a worker
  as_hello.set_version(kProtocolVersion);
  as_hello.set_job(image.job());
  as_hello.set_servers(image.servers());
  as_hello.set_server(image.server());
  *as_hello.mutable_spec() = image.spec();
  as_hello.set_process_id(1);
  const std::string directory = fmt::format("the directory {}", options_.directory.string());
  RETURN_IF_ERROR(another_run(adoption_.check(as_hello, directory)));
  if (options_.spec) {
    ASSIGN_OR_RETURN(const JobSpec found, from_wire(image.spec()));
    if (const auto different = difference(*options_.spec, name_, found, directory)) {
      return another_run(Status::failed_precondition("another schema: {}", *different));
    }
  }
  RETURN_IF_ERROR(another_run(adoption_.adopt(as_hello, directory)));
  RETURN_IF_ERROR(restore_from(*snapshot).with_context("{}", snapshot->folder().string()));
  log_start_ = image.log_position();
  restored_ = true;
  lossy_ = durability == Durability::snapshot;
  notice("recovered from {} in {:.3f} s", snapshot->folder().string(), watch.seconds());
  return {};
}

Status Recovery::restore_from(const table::Snapshot& snapshot) {
  StateImageReader state;
  Progress progress("recovery");
  double rows_read = 0;
  const auto on_rows = [&](uint64_t rows) -> Status {
    rows_read += static_cast<double>(rows);
    if (snapshot.count() > 0) progress.set(rows_read / static_cast<double>(snapshot.count()));
    return {};
  };
  const ReadOptions how{.only = {}, .state = [&](std::string_view piece) { return state.add(piece); }, .on_rows = on_rows};
  RETURN_IF_ERROR(read_tables(snapshot, state_->tables(), how).status());
  ASSIGN_OR_RETURN(const wire::StateImage image, std::move(state).finish(snapshot.states().at(0)));
  return state_->restore(image);
}

// A hello of the log says which run it was, and the first one what the job is.
Status Recovery::recover_hello(const Record& record) {
  ASSIGN_OR_RETURN(const auto hello, parse<wire::HelloRequest>(record));
  const bool recorded = folder_ != nullptr && folder_->found() && !folder_->found()->run.empty();
  if (!recorded && !hello.run().empty()) run_.restore(hello.run());
  const std::string directory = fmt::format("the directory {}", options_.directory.string());
  if (!state_) RETURN_IF_ERROR(another_run(adoption_.check(hello, directory)));
  return another_run(adoption_.adopt(hello, directory));  // with a state: whether it is the same job, workers and tables
}

Status Recovery::another_run(const Status& status) {
  if (status.ok()) return {};
  another_run_ =
      Status(status.code(), fmt::format("{}. Start the job as that run was started, or anew with --fresh", status.message()));
  return another_run_;
}

// A server that was told its tables by its own process may have records before the first hello, which says what the job is.
Status Recovery::adopt_first_hello() {
  bool found = false;
  const Status read = journal_->replay(replay_from(journal_->log().first()), [&](const Record& record) -> Status {
    if (record.method != wire::HELLO) return {};
    RETURN_IF_ERROR(recover_hello(record));
    found = true;
    return Status::cancelled("the rest is not needed");
  });
  return found ? Status() : read;
}

Status Recovery::recover_log(const std::filesystem::path& folder) {
  const Durability durability = options_.settled_durability();
  auto journal = Journal::open(folder, {.sync = durability == Durability::wal_sync,
                                        .sync_seconds = durability == Durability::wal ? options_.log_sync_seconds : 0,
                                        .max_bytes = options_.log_limit_bytes});
  if (!journal.ok()) return journal.status().code() == Code::data_loss ? cannot_recover(journal.status()) : journal.status();
  journal_ = std::move(*journal);
  Stopwatch watch;
  int64_t records = 0;
  if (!state_) {
    if (const Status read = adopt_first_hello(); !read.ok()) return cannot_recover(read);
  }
  const uint64_t from = replay_from(journal_->log().first());
  const double bytes = static_cast<double>(journal_->log().end() - from);
  Progress progress("recovery");
  double bytes_read = 0;
  const Status replayed = journal_->replay(from, [&](const Record& record) {
    ++records;
    bytes_read += static_cast<double>(record.header.size() + record.payload.size());
    progress.set(bytes_read / bytes);
    return replay_record(record);
  });
  if (!replayed.ok()) return cannot_recover(replayed);
  if (records > 0) notice("replayed {} of the log in {:.3f} s", counted(records, "record"), watch.seconds());
  return {};
}

// Where the log goes on behind the snapshot that was read.
uint64_t Recovery::replay_from(uint64_t first) const { return state_ && log_start_ != 0 ? log_start_ : first; }

Status Recovery::replay_record(const Record& record) {
  if (!state_ && record.method != wire::HELLO)
    return Status::data_loss("the log has no worker's hello, which says what the job is");
  if (record.method == wire::HELLO) RETURN_IF_ERROR(recover_hello(record));
  restored_ = true;
  ++records_;
  return state_->apply(record);
}

// A log that cannot be read or applied stays so however often the server is started: only a person can decide about it.
Status Recovery::cannot_recover(const Status& status) const {
  if (status.code() == Code::unavailable || status.code() == Code::resource_exhausted) return status;
  if (!another_run_.ok()) return another_run_;
  return Status(status.code(), fmt::format("{}. `argosy repair {}` lists what cannot be read or applied, and with --set-aside "
                                           "moves it out of the log, so that the server starts without it",
                                           status.message(), options_.directory.string()));
}

}  // namespace argosy::ps
