#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/observe/job_view.h"
#include "argosy/observe/metrics.h"

namespace argosy::observe {

// What a launcher knows of its job: it writes down what happens and what its processes report, others read it as a JobView.
//
// Thread-safe. Memory is bounded: the last events, a few hundred points of each curve, the last report of each process.
class JobBoard {
 public:
  struct Job {
    std::string name, run, folder, command;
  };
  struct Process {
    std::string name, log, address, metrics;
    bool worker = false;
  };
  JobBoard(Job job, const std::vector<Process>& processes);

  void started(size_t process, int64_t pid);  // again counts as a restart
  void ended(size_t process, bool well, std::string how, std::string tail);
  void report(size_t process, std::string_view numbers);  // base/notice.h, notice_report()
  void event(LogLevel level, std::string process, std::string text);
  // The launcher stops the processes that still run.
  void stopping(std::string why);
  void finished(int exit_code);

  // Adds a point to the curves where it is time; to be called a few times per second.
  void tick();

  // How long no worker that runs has trained a batch. Workers that have counted none yet, or that count none, stand still where
  // they report, their long work does not go on, and they use next to no processor. 0 where no worker runs that reports.
  struct Stall {
    double seconds = 0;
    bool begun = false;  // one of them had trained a batch
  };
  Stall stall() const;

  JobView view() const;
  // The workers' histograms, added up: by name, the samples of the buckets as in a report ("le" is the bound).
  struct HistogramSum {
    std::map<double, double> buckets;  // bound -> how many values are in its bucket, not below it
    double sum = 0;
  };
  std::map<std::string, HistogramSum> histograms() const;

  // The launcher's own metrics.
  void read(Readings& readings) const;

 private:
  struct Point {
    SteadyClock::time_point when;
    double samples = 0;  // or what else is counted
  };
  struct Row {
    ProcessView view;
    bool begun = false;
    std::optional<Stopwatch> since_report;
    std::deque<Point> points;  // of the last seconds
    std::optional<Stopwatch> since_pass;
    double pass_begin = 0;  // the ratio at which since_pass began
    double last_ratio = 0;
    std::optional<Point> processor;  // seconds of it, as they were reported last
    std::string last_work;           // "load 45 %", likewise
    std::map<std::string, TableView> tables;
    std::map<std::string, HistogramSum> histograms;
  };

  void take(Row& row, const std::vector<Sample>& samples) ARGOSY_REQUIRES(mutex_);
  void note_samples(Row& row, double samples) ARGOSY_REQUIRES(mutex_);
  void note_ratio(Row& row, double ratio) ARGOSY_REQUIRES(mutex_);
  void note_other_work(Row& row) ARGOSY_REQUIRES(mutex_);
  JobView summary() const ARGOSY_REQUIRES(mutex_);  // all but events, ledger, history
  void add_event(LogLevel level, std::string process, std::string text) ARGOSY_REQUIRES(mutex_);

  mutable Mutex mutex_;
  JobView job_ ARGOSY_GUARDED_BY(mutex_);  // without processes and what is made from them
  std::vector<Row> rows_ ARGOSY_GUARDED_BY(mutex_);
  // Since one of the counts of samples grew, a process was started, or a worker that has no count did something else.
  Stopwatch since_samples_ ARGOSY_GUARDED_BY(mutex_);
  Stopwatch since_point_ ARGOSY_GUARDED_BY(mutex_);
  double point_seconds_ ARGOSY_GUARDED_BY(mutex_);  // between two points; grows with the job
};

}  // namespace argosy::observe
