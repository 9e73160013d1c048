#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "argosy/base/clock.h"
#include "argosy/base/fd.h"
#include "argosy/base/run_record.h"
#include "argosy/base/status.h"
#include "argosy/ps/server/server_options.h"

namespace argosy::ps {

// What a server says of its run, for its record.
struct RunProgress {
  std::string job, run;  // its name, where it is known, and its id
  uint64_t passes = 0, batches = 0, rows = 0;
  int workers = 0;  // 0: not known yet
  bool finished = false;
};

// The folder of one server from one process to the next: it belongs to one process at a time, and its record (base/run_record.h)
// says which run's state it holds. open() decides whether a process goes on with what it finds there:
//
//   started again by the same launcher, or without one under the same id while the run lasts    goes on
//   on_old_state=fresh                                                                           moves it aside and begins anew
//   on_old_state=resume                                                                          goes on
//   started by hand without an id, on a run of the same job that has not finished                goes on
//   otherwise                                                                                    refuses, and says what is there;
//                                                                                                as fresh where nothing was
//                                                                                                trained
//
// Thread-compatible: recover(), then the snapshot thread, then stop().
class ServerFolder {
 public:
  static Result<std::unique_ptr<ServerFolder>> open(const ServerOptions& options);
  // Before open(), for a process that goes on with its folder alone or as the primary: what the follower of an earlier launch
  // (replicas=1) has left beside it may be newer, or all that there is, and is refused then. on_old_state=fresh moves it aside.
  static Status check_beside(const ServerOptions& options);

  // The record of the run that this process goes on with.
  const std::optional<RunRecord>& found() const { return found_; }
  // Whether this process is of the same run as the one before it.
  bool same_run() const { return same_run_; }
  // What a start is told that must not go on with what was found.
  Status refusal() const;

  // To be called before the first batch of the run is kept here. Thread-safe.
  Status mark_trained() const { return argosy::mark_trained(options_.directory); }

  // A run begins here, with this process or before it. Writes the record.
  Status begin(const RunProgress& progress, bool anew);
  // Keeps the record up to date: writes it where something has changed that a reader would miss, or after a while.
  Status note(const RunProgress& progress, bool now);
  // Whether note() would write, by what costs nothing to know.
  bool note_due(const RunProgress& progress) const;

 private:
  explicit ServerFolder(const ServerOptions& options) : options_(options) {}

  enum class Choice { go_on, aside, refuse };
  Choice choose() const;
  Status make_way();

  const ServerOptions options_;
  Fd lock_;
  std::optional<RunRecord> found_;
  bool same_run_ = false;
  RunRecord record_;
  Stopwatch since_written_;
};

}  // namespace argosy::ps
