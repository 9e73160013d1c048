#include "argosy/ps/server/server_folder.h"

#include "argosy/base/counted.h"
#include "argosy/base/notice.h"
#include "argosy/base/run_id.h"

namespace argosy::ps {
namespace {

constexpr double kNoteSeconds = 30;  // for the number of rows, which always changes

}  // namespace

Result<std::unique_ptr<ServerFolder>> ServerFolder::open(const ServerOptions& options) {
  std::unique_ptr<ServerFolder> folder(new ServerFolder(options));
  ASSIGN_OR_RETURN(folder->lock_, lock_server_folder(options.directory));
  ASSIGN_OR_RETURN(folder->found_, read_run_record(options.directory));
  if (!folder->found_) return folder;
  const RunRecord& old = *folder->found_;
  folder->same_run_ = options.launch.empty() ? !options.run.empty() && old.run == options.run && old.finished.empty()
                                             : old.launch == options.launch;
  switch (folder->choose()) {
    case Choice::refuse: return folder->refusal();
    case Choice::aside: RETURN_IF_ERROR(folder->make_way()); break;
    case Choice::go_on:
      if (old.servers != 0 && old.servers != options.servers) {
        return Status::failed_precondition(
            "'{}' holds {}, and this job has {}. To go on with it, deal its tables out first: argosy reshard {} "
            "--servers {}",
            options.directory.string(), describe_runs({&old, 1}), counted(options.servers, "server"),
            options.directory.parent_path().string(), options.servers);
      }
      break;
  }
  return folder;
}

Status ServerFolder::check_beside(const ServerOptions& options) {
  const std::filesystem::path& own = options.directory;
  const std::filesystem::path beside = followers_in(own.parent_path()) / own.filename();
  ASSIGN_OR_RETURN(const auto follower, read_run_record(beside));
  if (!follower || follower->batches == 0) return {};
  if (options.on_old_state == OnOldState::fresh) {
    if (options.replica) return {};  // its follower begins with an empty folder
    ASSIGN_OR_RETURN(const Fd unused, lock_server_folder(beside));
    ASSIGN_OR_RETURN(const auto aside, move_aside(beside, options.run.empty() ? draw_run_id() : options.run));
    notice("{} is now {}: {}", beside.string(), aside.string(), describe_runs({&*follower, 1}));
    return {};
  }
  ASSIGN_OR_RETURN(const auto here, read_run_record(own));
  const bool has_run = here && here->batches > 0;
  const bool part = is_part_of_run(beside);
  if (here && (options.replica || part)) return {};  // whose folder is newer was asked before; a part never is
  return Status::failed_precondition("'{}' holds {} {}, the follower's of an earlier launch (replicas=1), and '{}' {}. {}",
                                     beside.string(), part ? "a part of" : "what may be the newest of",
                                     describe_runs({&*follower, 1}), own.string(), has_run ? "may have less" : "holds no run",
                                     part ? "Put back what was there, or begin anew with --fresh"
                                          : "Go on with replicas=1, or move the one away that is known to be older");
}

ServerFolder::Choice ServerFolder::choose() const {
  const RunRecord& old = *found_;
  if (same_run_) return Choice::go_on;
  const bool by_hand = options_.launch.empty() && options_.run.empty();
  const bool same_job = options_.job.empty() || old.job.empty() || old.job == options_.job;
  if (options_.on_old_state == OnOldState::fresh) return Choice::aside;
  if (by_hand && same_job && old.finished.empty()) return Choice::go_on;
  if (options_.on_old_state == OnOldState::resume) return Choice::go_on;
  return old.batches == 0 ? Choice::aside : Choice::refuse;
}

Status ServerFolder::refusal() const { return stopped_by_old_run(options_.directory, {&*found_, 1}); }

// Server 0 also moves the folders of servers that this job has not.
Status ServerFolder::make_way() {
  ASSIGN_OR_RETURN(const auto aside, move_aside(options_.directory, options_.run.empty() ? draw_run_id() : options_.run));
  notice("{} is now {}: {}", options_.directory.string(), aside.string(), describe_runs({&*found_, 1}));
  found_.reset();
  if (options_.server != 0 || options_.directory.filename() != "server-0") return {};
  const std::filesystem::path parent = options_.directory.parent_path();
  ASSIGN_OR_RETURN(const auto others, find_old_runs(parent));
  for (const RunRecord& other : others) {
    if (other.server < options_.servers) continue;
    const std::filesystem::path folder = server_folder_in(parent, other.server);
    ASSIGN_OR_RETURN(const Fd unused, lock_server_folder(folder));
    RETURN_IF_ERROR(move_aside(folder, options_.run.empty() ? draw_run_id() : options_.run).status());
  }
  return {};
}

Status ServerFolder::begin(const RunProgress& progress, bool anew) {
  record_ = found_ && !anew ? *found_ : RunRecord();
  if (record_.started.empty()) record_.started = date_and_time();
  if (!options_.job.empty()) record_.job = options_.job;
  record_.launch = options_.launch;
  record_.server = options_.server;
  record_.servers = options_.servers;
  return note(progress, true);
}

bool ServerFolder::note_due(const RunProgress& progress) const {
  return progress.run != record_.run || progress.passes != record_.passes || progress.finished == record_.finished.empty() ||
         (progress.batches > 0) != (record_.batches > 0) ||
         (progress.batches != record_.batches && since_written_.seconds() > kNoteSeconds);
}

Status ServerFolder::note(const RunProgress& progress, bool now) {
  if (!now && !note_due(progress)) return {};
  if (!progress.job.empty()) record_.job = progress.job;
  record_.run = progress.run;
  if (progress.workers != 0) record_.workers = progress.workers;
  record_.passes = progress.passes;
  record_.batches = progress.batches;
  record_.rows = progress.rows;
  if (!progress.finished) record_.finished.clear();
  if (progress.finished && record_.finished.empty()) record_.finished = date_and_time();
  since_written_.restart();
  return write_run_record(options_.directory, record_);
}

}  // namespace argosy::ps
