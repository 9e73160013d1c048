#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/log.h"
#include "argosy/observe/table_view.h"

namespace argosy::observe {

// One process of a job, as its launcher knows it. Numbers that are not known are kUnknown.
struct ProcessView {
  enum class State { waiting, running, done, failed, stopped };

  std::string name, log, address, metrics;  // "worker 0"; its log file; where it listens; the URL of its metrics
  bool worker = false;
  int64_t pid = 0;
  State state = State::waiting;
  std::string how;  // it ended
  std::string work;  // long work that is under way, "load"; empty: none
  double work_ratio = kUnknown;
  int restarts = 0;
  double started = 0;  // seconds since 1970
  double silent_seconds = kUnknown;  // since it last reported
  double memory_bytes = kUnknown, cpu_seconds = kUnknown;

  // ---- Of workers.
  double samples = kUnknown, samples_per_second = kUnknown, loss = kUnknown, auc = kUnknown;
  double pull_seconds = kUnknown, push_seconds = kUnknown;  // means of one
  double staleness = kUnknown, queue = kUnknown, pass_ratio = kUnknown;
  bool straggler = false;  // less than half as fast as its peers

  // ---- Of servers.
  double pushes = kUnknown, pulls = kUnknown, rows = kUnknown, table_bytes = kUnknown, log_bytes = kUnknown;
  double received_bytes = kUnknown, sent_bytes = kUnknown;
  double snapshots = kUnknown, snapshot_age_seconds = kUnknown, workers_lost = kUnknown, parked_calls = kUnknown,
         refused = kUnknown;
  // Of servers with two processes. Of the primary: its epoch, and 1 where its follower has everything. Of the follower: how far
  // it is behind.
  double replica_epoch = kUnknown, replica_whole = kUnknown, follower_lag_records = kUnknown;
  bool follows() const { return is_known(follower_lag_records) && !is_known(replica_epoch); }

  std::string tail;  // the end of its log, where it has failed
};

const char* state_name(ProcessView::State state);
std::string work_text(const ProcessView& process);  // "load 45 %"; empty where there is none

// What happened, with the time of day in seconds since 1970.
struct JobEvent {
  double time = 0;
  LogLevel level = LogLevel::info;
  std::string process, text;
};

struct JobHistory {
  std::vector<double> time, samples_per_second, loss, auc;  // equally long
};

// A job at one moment. A plain value.
struct JobView {
  std::string name, run, folder, command, host, state;  // "starting", "running", "ended well", "failed", "stopped"
  int64_t launcher_pid = 0;
  double started = 0, now = 0;  // seconds since 1970
  std::optional<int> exit_code;

  double samples = 0, samples_per_second = 0, loss = kUnknown, auc = kUnknown, staleness = kUnknown, eta_seconds = kUnknown;
  int alive = 0, restarts = 0;
  std::vector<ProcessView> processes;
  std::vector<TableView> tables;
  std::vector<JobEvent> events;      // the last ones, oldest first
  std::vector<std::string> ledger;   // one line per pass
  JobHistory history;

  const JobEvent* last_warning() const;  // or error; null: none
};

// The same as JSON (docs/observing.md has the fields), and as text for a terminal.
std::string job_json(const JobView& view);
std::string job_text(const JobView& view);
// One line without an end: samples/s, loss, AUC, time left, processes, the last warning; at most `width` characters.
std::string job_line(const JobView& view, size_t width);

// "1,234", "12.3 MB", "4:05" (minutes and seconds), "2:04:05"; "–" where it is not known.
std::string count_text(double value);
std::string bytes_text(double value);
std::string duration_text(double seconds);

}  // namespace argosy::observe
