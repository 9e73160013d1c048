#include "argosy/observe/job_board.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <map>
#include <utility>

#include "argosy/base/text.h"

namespace argosy::observe {
namespace {

constexpr size_t kMostEvents = 100, kMostLedgerLines = 50, kMostPoints = 600;
constexpr double kRateSeconds = 6;   // samples/s is over the last so many
constexpr double kPointSeconds = 1;  // between two points of the curves, at first
constexpr double kSlow = 0.5;        // of its peers' speed makes a straggler
constexpr double kIdleShare = 0.1;   // of a processor: who uses less stands still, but for beats
constexpr double kSettleSeconds = 3;  // a rate over less than this says little

// The status of a job that somebody has stopped. One whose process was killed otherwise, by a lack of memory say, has failed.
bool is_stop(int exit_code) { return exit_code == 128 + SIGINT || exit_code == 128 + SIGTERM || exit_code == 128 + SIGHUP; }

double now_seconds() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

double seconds_between(SteadyClock::time_point a, SteadyClock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

// The mean of what is known.
double mean_of(const std::vector<ProcessView>& processes, double ProcessView::* field) {
  double sum = 0;
  int count = 0;
  for (const ProcessView& process : processes) {
    if (!process.worker || !is_known(process.*field)) continue;
    sum += process.*field;
    ++count;
  }
  return count == 0 ? kUnknown : sum / count;
}

void thin(std::vector<double>& values) {
  for (size_t i = 0; 2 * i < values.size(); ++i) values[i] = values[2 * i];
  values.resize((values.size() + 1) / 2);
}

// The numbers of a report that stand for one field each.
struct FieldOfMetric {
  std::string_view metric;
  double ProcessView::* field;
};
constexpr FieldOfMetric kFields[] = {
    {"process_resident_memory_bytes", &ProcessView::memory_bytes},
    {"process_cpu_seconds_total", &ProcessView::cpu_seconds},
    {"argosy_worker_samples_total", &ProcessView::samples},
    {"argosy_worker_staleness_batches", &ProcessView::staleness},
    {"argosy_worker_queue_batches", &ProcessView::queue},
    {"argosy_worker_pass_ratio", &ProcessView::pass_ratio},
    {"argosy_server_pushes_total", &ProcessView::pushes},
    {"argosy_server_pulls_total", &ProcessView::pulls},
    {"argosy_server_log_bytes", &ProcessView::log_bytes},
    {"argosy_server_received_bytes_total", &ProcessView::received_bytes},
    {"argosy_server_sent_bytes_total", &ProcessView::sent_bytes},
    {"argosy_server_snapshots_total", &ProcessView::snapshots},
    {"argosy_server_snapshot_age_seconds", &ProcessView::snapshot_age_seconds},
};

double total_of(const std::vector<Sample>& samples, std::string_view name) {
  double total = kUnknown;
  for (const Sample& sample : samples) {
    if (sample.name == name) total = (is_known(total) ? total : 0) + sample.value;
  }
  return total;
}

double mean_seconds(const std::vector<Sample>& samples, const std::string& name) {
  const double count = total_of(samples, name + "_count");
  return is_known(count) && count > 0 ? total_of(samples, name + "_sum") / count : kUnknown;
}

// What a report does not say stays as it was.
void keep_known(double& field, double now) {
  if (is_known(now)) field = now;
}

void take_fields(ProcessView& view, const std::vector<Sample>& samples) {
  view.work.clear();
  for (const Sample& sample : samples) {
    for (const auto& [metric, field] : kFields) {
      if (sample.name == metric) view.*field = sample.value;
    }
    if (sample.name == "argosy_worker_measure" && sample.label("measure") == "loss") view.loss = sample.value;
    if (sample.name == "argosy_worker_measure" && sample.label("measure") == "auc") view.auc = sample.value;
    if (sample.name == "argosy_work_ratio" && view.work.empty()) {
      view.work = sample.label("work");
      view.work_ratio = sample.value;
    }
    if (sample.name == "argosy_server_workers" && sample.label("state") == "lost") view.workers_lost = sample.value;
    if (sample.name == "argosy_server_limit_used" && sample.label("limit") == "parked_calls") view.parked_calls = sample.value;
  }
  view.pull_seconds = mean_seconds(samples, "argosy_worker_pull_seconds");
  view.push_seconds = mean_seconds(samples, "argosy_worker_push_seconds");
  keep_known(view.rows, total_of(samples, "argosy_server_table_rows"));
  keep_known(view.table_bytes, total_of(samples, "argosy_server_table_memory_bytes"));
  keep_known(view.refused, total_of(samples, "argosy_server_limit_refused_total"));
  if (!is_known(total_of(samples, "argosy_server_pushes_total"))) return;
  view.replica_epoch = total_of(samples, "argosy_replica_epoch");  // unknown again where the process is the primary no longer
  view.replica_whole = total_of(samples, "argosy_replica_whole");
  view.follower_lag_records = total_of(samples, "argosy_follower_lag_records");
}

// A bucket of the text format has all values up to its bound: the ones before it are taken off.
std::map<std::string, JobBoard::HistogramSum> histograms_of(const std::vector<Sample>& samples) {
  constexpr std::string_view kBucket = "_bucket", kSum = "_sum";
  std::map<std::string, JobBoard::HistogramSum> histograms;
  std::map<std::string, double> before;
  for (const Sample& sample : samples) {
    if (sample.name.ends_with(kBucket)) {
      const std::string name = sample.name.substr(0, sample.name.size() - kBucket.size());
      const double bound =
          sample.label("le") == "+Inf" ? std::numeric_limits<double>::max() : parse_number(sample.label("le")).value_or(0);
      histograms[name].buckets[bound] += sample.value - before[name];
      before[name] = sample.value;
    } else if (sample.name.ends_with(kSum)) {
      const std::string name = sample.name.substr(0, sample.name.size() - kSum.size());
      histograms[name].sum += sample.value;
      before[name] = 0;
    }
  }
  return histograms;
}

void mark_stragglers(std::vector<ProcessView>& processes) {
  std::vector<double> rates;
  for (const ProcessView& process : processes) {
    if (process.worker && process.state == ProcessView::State::running && is_known(process.samples_per_second))
      rates.push_back(process.samples_per_second);
  }
  if (rates.size() < 2) return;
  const double usual = rates.size() == 2 ? std::max(rates[0], rates[1]) : median(rates);
  for (ProcessView& process : processes) {
    process.straggler =
        process.worker && process.state == ProcessView::State::running && usual > 0 && process.samples_per_second < kSlow * usual;
  }
}

}  // namespace

JobBoard::JobBoard(Job job, const std::vector<Process>& processes) : point_seconds_(kPointSeconds) {
  job_.name = std::move(job.name);
  job_.run = std::move(job.run);
  job_.folder = std::move(job.folder);
  job_.command = std::move(job.command);
  job_.host = host_name();
  job_.launcher_pid = ::getpid();
  job_.started = now_seconds();
  job_.state = "starting";
  for (const Process& process : processes) {
    Row& row = rows_.emplace_back();
    row.view.name = process.name;
    row.view.log = process.log;
    row.view.address = process.address;
    row.view.metrics = process.metrics;
    row.view.worker = process.worker;
  }
}

void JobBoard::started(size_t process, int64_t pid) {
  MutexLock lock(mutex_);
  Row& row = rows_[process];
  if (row.begun) {
    ++row.view.restarts;
    ++job_.restarts;
    add_event(LogLevel::warning, row.view.name, "started again");
  }
  row.begun = true;
  row.view.pid = pid;
  row.view.state = ProcessView::State::running;
  row.view.how.clear();
  row.view.started = now_seconds();
  row.since_report.reset();
  row.points.clear();
  row.processor.reset();
  since_samples_.restart();
  if (job_.state == "starting") job_.state = "running";
}

void JobBoard::ended(size_t process, bool well, std::string how, std::string tail) {
  MutexLock lock(mutex_);
  Row& row = rows_[process];
  if (row.view.state != ProcessView::State::running) return;
  const bool stopped = job_.state == "stopping";
  row.view.state = well ? ProcessView::State::done : stopped ? ProcessView::State::stopped : ProcessView::State::failed;
  row.view.how = std::move(how);
  row.view.work.clear();
  row.view.samples_per_second = 0;
  if (row.view.state != ProcessView::State::failed) return;
  row.view.tail = tail.empty() ? "(nothing was written)\n" : std::move(tail);
  add_event(LogLevel::error, row.view.name, row.view.how);
}

void JobBoard::report(size_t process, std::string_view numbers) {
  const auto samples = parse_samples(numbers);
  if (!samples.ok()) return;  // of a process of another version
  MutexLock lock(mutex_);
  take(rows_[process], *samples);
}

void JobBoard::take(Row& row, const std::vector<Sample>& samples) {
  row.since_report.emplace();
  take_fields(row.view, samples);
  if (auto tables = tables_of(samples); !tables.empty()) row.tables = std::move(tables);  // a server that ends has none any more
  if (row.view.follows()) row.tables.clear();  // they are its primary's
  row.histograms = histograms_of(samples);
  if (is_known(row.view.samples)) note_samples(row, row.view.samples);
  if (row.view.worker && !(row.view.samples > 0)) note_other_work(row);
  if (is_known(row.view.pass_ratio)) note_ratio(row, row.view.pass_ratio);
}

void JobBoard::note_samples(Row& row, double samples) {
  const auto now = SteadyClock::now();
  if (row.points.empty() || samples != row.points.back().samples) since_samples_.restart();
  if (!row.points.empty() && samples < row.points.back().samples) row.points.clear();  // a new process
  row.points.push_back({now, samples});
  while (row.points.size() > 2 && seconds_between(row.points[1].when, now) > kRateSeconds) row.points.pop_front();
  const double seconds = seconds_between(row.points.front().when, now);
  if (seconds > 0) row.view.samples_per_second = (samples - row.points.front().samples) / seconds;
}

void JobBoard::note_ratio(Row& row, double ratio) {
  const bool same_pass = row.since_pass && ratio >= row.last_ratio;
  row.last_ratio = ratio;
  if (same_pass) return;
  row.since_pass.emplace();
  row.pass_begin = ratio;
}

void JobBoard::add_event(LogLevel level, std::string process, std::string text) {
  auto& events = job_.events;
  events.push_back({now_seconds(), level, std::move(process), std::move(text)});
  if (events.size() > kMostEvents) events.erase(events.begin());
}

void JobBoard::event(LogLevel level, std::string process, std::string text) {
  MutexLock lock(mutex_);
  if ((text.starts_with("pass ") || text.starts_with("the job, ")) && text.find(" applied") != std::string::npos) {
    job_.ledger.push_back(process + ": " + text);
    if (job_.ledger.size() > kMostLedgerLines) job_.ledger.erase(job_.ledger.begin());
  }
  add_event(level, std::move(process), std::move(text));
}

void JobBoard::stopping(std::string why) {
  MutexLock lock(mutex_);
  job_.state = "stopping";
  if (!why.empty()) add_event(LogLevel::warning, "launcher", std::move(why));
}

void JobBoard::finished(int exit_code) {
  MutexLock lock(mutex_);
  job_.exit_code = exit_code;
  job_.state = exit_code == 0 ? "ended well" : is_stop(exit_code) ? "stopped" : "failed";
  for (Row& row : rows_) {
    if (row.view.state == ProcessView::State::running) row.view.state = ProcessView::State::stopped;
    row.view.samples_per_second = row.view.worker && is_known(row.view.samples) ? 0 : kUnknown;
  }
}

JobView JobBoard::summary() const {
  JobView view;
  view.now = now_seconds();
  std::map<std::string, TableView> tables;
  for (const Row& row : rows_) {
    ProcessView process = row.view;
    if (row.since_report) process.silent_seconds = row.since_report->seconds();
    const bool running = process.state == ProcessView::State::running;
    if (running) ++view.alive;
    if (is_known(process.samples)) view.samples += process.samples;
    if (running && is_known(process.samples_per_second)) view.samples_per_second += process.samples_per_second;
    if (is_known(process.staleness))
      view.staleness = is_known(view.staleness) ? std::max(view.staleness, process.staleness) : process.staleness;
    const double read = is_known(process.pass_ratio) ? process.pass_ratio - row.pass_begin : 0;
    if (running && read > 0 && row.since_pass->seconds() > kSettleSeconds) {
      const double left = (1 - process.pass_ratio) * row.since_pass->seconds() / read;
      view.eta_seconds = is_known(view.eta_seconds) ? std::max(view.eta_seconds, left) : left;
    }
    for (const auto& [name, part] : row.tables) tables.try_emplace(name, TableView{.name = name}).first->second.add(part);
    view.processes.push_back(std::move(process));
  }
  mark_stragglers(view.processes);
  view.loss = mean_of(view.processes, &ProcessView::loss);
  view.auc = mean_of(view.processes, &ProcessView::auc);
  for (auto& [name, table] : tables) view.tables.push_back(std::move(table));
  return view;
}

JobBoard::Stall JobBoard::stall() const {
  MutexLock lock(mutex_);
  const auto reports = [](const Row& row) {
    return row.view.worker && row.view.state == ProcessView::State::running && row.since_report;
  };
  const auto trains = [&](const Row& row) { return reports(row) && row.view.samples > 0; };
  if (std::ranges::none_of(rows_, reports)) return {};
  return {.seconds = since_samples_.seconds(), .begun = std::ranges::any_of(rows_, trains)};
}

void JobBoard::note_other_work(Row& row) {
  const Point now{SteadyClock::now(), row.view.cpu_seconds};
  const std::string work = work_text(row.view);
  bool works = std::exchange(row.last_work, work) != work;
  if (row.processor && is_known(now.samples)) {
    const double used = now.samples - row.processor->samples;
    works |= used > kIdleShare * seconds_between(row.processor->when, now.when);
  }
  row.processor = now;
  if (works) since_samples_.restart();
}

void JobBoard::tick() {
  MutexLock lock(mutex_);
  if (since_point_.seconds() < point_seconds_) return;
  const JobView now = summary();
  if (now.samples == 0) return;  // nothing to draw yet
  since_point_.restart();
  JobHistory& history = job_.history;
  history.time.push_back(now.now);
  history.samples_per_second.push_back(now.samples_per_second);
  history.loss.push_back(now.loss);
  history.auc.push_back(now.auc);
  if (history.time.size() < kMostPoints) return;
  for (auto* values : {&history.time, &history.samples_per_second, &history.loss, &history.auc}) thin(*values);
  point_seconds_ *= 2;
}

JobView JobBoard::view() const {
  MutexLock lock(mutex_);
  JobView view = job_;
  JobView now = summary();
  view.now = now.now;
  view.samples = now.samples;
  view.samples_per_second = now.samples_per_second;
  view.loss = now.loss;
  view.auc = now.auc;
  view.staleness = now.staleness;
  view.eta_seconds = now.eta_seconds;
  view.alive = now.alive;
  view.processes = std::move(now.processes);
  view.tables = std::move(now.tables);
  return view;
}

std::map<std::string, JobBoard::HistogramSum> JobBoard::histograms() const {
  MutexLock lock(mutex_);
  std::map<std::string, HistogramSum> all;
  for (const Row& row : rows_) {
    for (const auto& [name, histogram] : row.histograms) {
      all[name].sum += histogram.sum;
      for (const auto& [bound, count] : histogram.buckets) all[name].buckets[bound] += count;
    }
  }
  return all;
}

void JobBoard::read(Readings& readings) const {
  const JobView now = view();
  int by_state[5] = {};
  for (const ProcessView& process : now.processes) ++by_state[static_cast<int>(process.state)];
  for (int i = 0; i < 5; ++i)
    readings.gauge("argosy_launcher_processes", "Processes of the job on this machine, by state.", by_state[i],
                   {{"state", state_name(static_cast<ProcessView::State>(i))}});
  readings.counter("argosy_launcher_restarts_total", "Processes that were started again.", now.restarts);
  readings.gauge("argosy_launcher_samples_per_second", "Samples per second, over all workers of this machine.",
                 now.samples_per_second);
  for (const char* state : {"starting", "running", "stopping", "ended well", "failed", "stopped"})
    readings.gauge("argosy_launcher_job_state", "1 for the state that the job is in.", now.state == state ? 1 : 0,
                   {{"state", state}});
  for (const ProcessView& process : now.processes) {
    if (process.worker)
      readings.gauge("argosy_launcher_straggler", "1 for a worker that is less than half as fast as its peers.",
                     process.straggler ? 1 : 0, {{"process", process.name}});
  }
}

}  // namespace argosy::observe
