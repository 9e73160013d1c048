#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/settings.h"
#include "argosy/base/status.h"
#include "argosy/launch/process/event_log.h"
#include "argosy/launch/process/job_process.h"
#include "argosy/launch/process/local_processes.h"
#include "argosy/observe/http_server.h"
#include "argosy/observe/job_board.h"
#include "argosy/observe/live_line.h"
#include "argosy/observe/metrics.h"

namespace argosy::launch {

// What a launcher shows of its job, besides the logs.
struct JobWatchOptions {
  bool quiet = false;              // no line that says how the job goes on
  double line_seconds = 30;        // between two of them where stderr is no terminal
  std::optional<int> status_port;  // of the status page; 0: any free one
  std::string status_host = "127.0.0.1";
  double stall_seconds = 600;       // without a batch before the stacks of all processes are saved; 0: never
  std::string tensorboard;          // folder of an event file for TensorBoard; empty: none
};

// Gives each process the port of its metrics, where the setting metrics_port asks for them: the ports after the launcher's own,
// or free ones.
Status choose_metrics_ports(std::vector<ProcessSpec*> processes, const Settings& settings);

// Shows a job while it runs: the line on the terminal, the status page, the metrics of the launcher, and in the log folder
//
//   status.json, status.txt   what the page shows, every two seconds and at the end
//   launcher                  who to ask and to stop: pid, host and URL, for `argosy status` and `argosy stop`
//   metrics.json              where the processes' metrics are, as Prometheus' file_sd_configs reads it. After the job has ended
//                             well nothing; after it has failed the launcher alone, with a label that says so: a state that is
//                             reached when the launcher ends cannot be scraped
//
// Confined to one thread, but for the board. The destructor leaves the last state in the files.
class JobWatch {
 public:
  // `job.folder` is where the logs are. An error is one of a port.
  static Result<std::unique_ptr<JobWatch>> start(observe::JobBoard::Job job, const std::vector<const ProcessSpec*>& processes,
                                                 const JobWatchOptions& options, const Settings& settings);
  ~JobWatch();
  JobWatch(const JobWatch&) = delete;

  observe::JobBoard& board() { return board_; }
  // A few times per second. `group` are the processes of the board.
  void tick(LocalProcesses& group);
  // The job has ended.
  void finish(int exit_code);

 private:
  JobWatch(observe::JobBoard::Job job, const std::vector<const ProcessSpec*>& processes, const JobWatchOptions& options,
           const Settings& settings);
  void look_for_stall(LocalProcesses& group);
  Status open(const JobWatchOptions& options, const Settings& settings);
  Status open_metrics(const Settings& settings);
  void write_files();
  void write(const std::string& name, const std::string& text) const;
  void write_targets(const std::string& own) const;
  void leave_targets() const;  // at the end

  const std::string folder_;
  observe::JobBoard board_;
  observe::LiveLine line_;
  std::unique_ptr<observe::HttpServer> status_, metrics_;
  observe::Registry::Collection collection_;
  std::optional<EventLog> events_;
  const double stall_seconds_;
  const std::string trace_;  // folder; empty: none
  Stopwatch since_files_;
  bool stall_told_ = false;
  bool finished_ = false;
};

}  // namespace argosy::launch
