#include "argosy/launch/process/job_watch.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "argosy/base/log.h"
#include "argosy/base/socket.h"
#include "argosy/base/text.h"
#include "argosy/launch/process/log_file.h"
#include "argosy/observe/health.h"
#include "argosy/observe/job_place.h"
#include "argosy/observe/json_writer.h"
#include "argosy/observe/process_observer.h"
#include "argosy/observe/status_page.h"
#include "argosy/observe/trace.h"

namespace argosy::launch {
namespace {

using observe::HttpAnswer;
using observe::HttpPages;
using observe::JobBoard;

constexpr double kFileSeconds = 2;
constexpr const char* kMetricsPort = "ARGOSY_METRICS_PORT";

std::string variable_of(const ProcessSpec& spec, const char* name) {
  const auto found = spec.environment.find(name);
  return found == spec.environment.end() ? "" : found->second;
}

std::string metrics_target(const ProcessSpec& spec, const std::string& host) {
  const auto port = parse_integer(variable_of(spec, kMetricsPort));
  return port ? Address{.host = host, .port = static_cast<int>(*port)}.to_string() : "";
}

std::vector<JobBoard::Process> rows_of(const std::vector<const ProcessSpec*>& specs) {
  std::vector<JobBoard::Process> rows;
  for (const ProcessSpec* spec : specs) {
    const std::string host = variable_of(*spec, "ARGOSY_METRICS_HOST");
    const std::string target = metrics_target(*spec, host.empty() ? "127.0.0.1" : host);
    rows.push_back({.name = spec->name,
                    .log = spec->log,
                    .address = listening_endpoint(*spec),
                    .metrics = target.empty() ? "" : "http://" + target + "/metrics",
                    .worker = !spec->name.starts_with("server") && !spec->name.starts_with("follower")});
  }
  return rows;
}

HttpAnswer probe(observe::Health::Kind kind, const JobBoard& board) {
  const observe::JobView view = board.view();
  if (kind == observe::Health::Kind::ready && view.alive == 0)
    return {.status = 503, .body = fmt::format("no process of the job runs; the job is {}\n", view.state)};
  return {.body = "ok\n"};
}

HttpPages metrics_pages(const JobBoard& board) {
  return {{"/metrics",
           [] {
             return HttpAnswer{.type = "text/plain; version=0.0.4; charset=utf-8", .body = observe::Registry::process().text()};
           }},
          {"/healthz", [&board] { return probe(observe::Health::Kind::healthy, board); }},
          {"/readyz", [&board] { return probe(observe::Health::Kind::ready, board); }}};
}

HttpPages status_pages(const JobBoard& board) {
  HttpPages pages = metrics_pages(board);
  pages["/"] = [] { return HttpAnswer{.type = "text/html; charset=utf-8", .body = observe::status_page()}; };
  pages["/status.json"] = [&board] { return HttpAnswer{.type = "application/json", .body = observe::job_json(board.view())}; };
  pages["/launcher"] = [] { return HttpAnswer{.body = observe::launcher_file("")}; };
  pages["/status.txt"] = [&board] { return HttpAnswer{.body = observe::job_text(board.view())}; };
  return pages;
}

}  // namespace

Status choose_metrics_ports(std::vector<ProcessSpec*> processes, const Settings& settings) {
  const auto own = parse_integer(settings.text("metrics_port"));
  if (!own) return {};
  std::vector<int> ports;
  if (*own == 0) {
    ASSIGN_OR_RETURN(ports, free_ports(settings.text("metrics_host"), static_cast<int>(processes.size())));
  }
  for (size_t i = 0; i < processes.size(); ++i) {
    const int64_t port = *own == 0 ? ports[i] : *own + 1 + static_cast<int64_t>(i);
    if (port > 65535)
      return Status::invalid_argument("--metrics_port {}: {} processes would need ports up to {}; choose a lower one, or 0", *own,
                                      processes.size(), *own + static_cast<int64_t>(processes.size()));
    processes[i]->environment[kMetricsPort] = std::to_string(port);
    processes[i]->environment["ARGOSY_METRICS_HOST"] = settings.text("metrics_host");
  }
  return {};
}

JobWatch::JobWatch(JobBoard::Job job, const std::vector<const ProcessSpec*>& processes, const JobWatchOptions& options,
                   const Settings& settings)
    : folder_(job.folder),
      board_(std::move(job), rows_of(processes)),
      line_({.quiet = options.quiet, .file_seconds = options.line_seconds}),
      stall_seconds_(options.stall_seconds),
      trace_(settings.text("trace")) {}

JobWatch::~JobWatch() {
  if (!finished_) finish(1);
}

Result<std::unique_ptr<JobWatch>> JobWatch::start(JobBoard::Job job, const std::vector<const ProcessSpec*>& processes,
                                                  const JobWatchOptions& options, const Settings& settings) {
  for (const char* name : {"status.json", "status.txt", "launcher", "metrics.json"}) set_aside(job.folder + "/" + name);
  std::unique_ptr<JobWatch> watch(new JobWatch(std::move(job), processes, options, settings));
  watch->finished_ = true;  // nothing to leave behind where a port is not to be had
  RETURN_IF_ERROR(watch->open(options, settings));
  watch->finished_ = false;
  watch->write_files();
  return watch;
}

Status JobWatch::open(const JobWatchOptions& options, const Settings& settings) {
  RETURN_IF_ERROR(open_metrics(settings));
  if (!options.tensorboard.empty()) {
    ASSIGN_OR_RETURN(events_, EventLog::open(options.tensorboard));
  }
  std::string url;
  if (options.status_port) {
    auto server = observe::HttpServer::start({.host = options.status_host, .port = *options.status_port}, status_pages(board_));
    if (!server.ok()) return server.status().with_context("--status_port {}", *options.status_port);
    status_ = std::move(*server);
    url = "http://" + status_->address().to_string() + "/";
    log_info("status: {}", url);
  }
  write("launcher", observe::launcher_file(url));
  return {};
}

Status JobWatch::open_metrics(const Settings& settings) {
  const auto port = parse_integer(settings.text("metrics_port"));
  if (!port) return {};
  observe::collect_process_metrics();
  collection_ = observe::Registry::process().collect([this](observe::Readings& readings) { board_.read(readings); });
  const Address address{.host = settings.text("metrics_host"), .port = static_cast<int>(*port)};
  auto server = observe::HttpServer::start(address, metrics_pages(board_));
  if (!server.ok()) return server.status().with_context("--metrics_port {}", *port);
  metrics_ = std::move(*server);
  write_targets(metrics_->address().to_string());
  log_info("metrics: http://{}/metrics; all processes: {}/metrics.json", metrics_->address().to_string(), folder_);
  return {};
}

void JobWatch::write_targets(const std::string& own) const {
  observe::JsonWriter json;
  json.begin_array();
  const auto add = [&](const std::string& target, const std::string& process, const std::string& job) {
    json.begin_object().begin_array("targets").text({}, target).end_array();
    json.begin_object("labels").text("job", "argosy").text("argosy_job", job).text("process", process).end_object().end_object();
  };
  const observe::JobView view = board_.view();
  add(own, "launcher", view.name);
  for (const observe::ProcessView& process : view.processes) {
    const size_t begin = std::string_view("http://").size(), end = process.metrics.rfind('/');
    if (!process.metrics.empty()) add(process.metrics.substr(begin, end - begin), process.name, view.name);
  }
  json.end_array();
  write("metrics.json", json.json() + "\n");
}

void JobWatch::leave_targets() const {
  if (metrics_ == nullptr) return;
  observe::JsonWriter json;
  json.begin_array();
  if (const observe::JobView view = board_.view(); view.state == "failed") {
    json.begin_object().begin_array("targets").text({}, metrics_->address().to_string()).end_array().begin_object("labels");
    json.text("job", "argosy").text("argosy_job", view.name).text("process", "launcher").text("argosy_ended", view.state);
    json.end_object().end_object();
  }
  json.end_array();
  write("metrics.json", json.json() + "\n");
}

// Readers see the old text or the new one; a power cut may take both. Where the disk is full, LocalProcesses::watch_logs says so.
void JobWatch::write(const std::string& name, const std::string& text) const {
  const std::filesystem::path path = std::filesystem::path(folder_) / name;
  std::filesystem::path beside = path;
  beside += fmt::format(".{}", ::getpid());
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  std::ofstream out(beside, std::ios::binary);
  out << text;
  out.close();
  if (out.good())
    std::filesystem::rename(beside, path, error);
  else
    std::filesystem::remove(beside, error);
}

void JobWatch::write_files() {
  since_files_.restart();
  const observe::JobView view = board_.view();
  write("status.json", observe::job_json(view));
  write("status.txt", observe::job_text(view));
}

void JobWatch::look_for_stall(LocalProcesses& group) {
  const observe::JobBoard::Stall stall = board_.stall();
  if (stall.seconds < stall_seconds_ || stall_seconds_ == 0) {
    stall_told_ = false;
    return;
  }
  if (std::exchange(stall_told_, true)) return;
  group.save_stacks(
      stall.begun ? fmt::format("no worker has trained a batch for {:.0f} s", stall.seconds)
                  : fmt::format("no worker has trained a batch yet, and none has done anything for {:.0f} s", stall.seconds));
}

void JobWatch::tick(LocalProcesses& group) {
  board_.tick();
  look_for_stall(group);
  if (line_.is_due()) line_.show(board_.view());
  if (since_files_.seconds() < kFileSeconds) return;
  if (events_) events_->write(board_.view(), board_.histograms());
  write_files();
}

void JobWatch::finish(int exit_code) {
  finished_ = true;
  board_.finished(exit_code);
  line_.clear();
  if (events_) events_->write(board_.view(), board_.histograms());
  if (!trace_.empty()) {
    if (const Status status = observe::join_traces(trace_); !status.ok())
      log_warning("the traces cannot be joined: {}", status.message());
    else
      log_info("trace: {}/trace.json", trace_);
  }
  write_files();
  leave_targets();
}

}  // namespace argosy::launch
