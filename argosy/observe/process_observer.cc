#include "argosy/observe/process_observer.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>

#include "argosy/base/env.h"
#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/notice.h"
#include "argosy/base/progress.h"
#include "argosy/base/text.h"
#include "argosy/base/thread.h"
#include "argosy/observe/health.h"
#include "argosy/observe/http_server.h"
#include "argosy/observe/metrics.h"
#include "argosy/observe/stack_dump.h"
#include "argosy/observe/trace.h"

namespace argosy::observe {
namespace {

constexpr std::chrono::seconds kReportEvery{1};

HttpAnswer probe(Health::Kind kind) {
  const std::string problems = Health::process().problems(kind);
  return problems.empty() ? HttpAnswer{.body = "ok\n"} : HttpAnswer{.status = 503, .body = problems};
}

HttpPages pages_of_process() {
  return {{"/metrics",
           [] { return HttpAnswer{.type = "text/plain; version=0.0.4; charset=utf-8", .body = Registry::process().text()}; }},
          {"/healthz", [] { return probe(Health::Kind::healthy); }},
          {"/readyz", [] { return probe(Health::Kind::ready); }}};
}

// Tells the launcher this process's numbers from time to time.
//
// Owns the thread "observe". The destructor tells them once more.
class Reporter {
 public:
  Reporter() : thread_("observe", [this] { run(); }) {}
  ~Reporter() {
    {
      MutexLock lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
    report_now();
  }

 private:
  void run() {
    MutexLock lock(mutex_);
    while (!changed_.wait_for(lock, kReportEvery, [&]() ARGOSY_REQUIRES(mutex_) { return ended_; })) {
      lock.unlock();
      report_now();
      lock.lock();
    }
  }

  Mutex mutex_;
  ConditionVariable changed_;
  bool ended_ ARGOSY_GUARDED_BY(mutex_) = false;
  Thread thread_;
};

struct Observer {
  std::unique_ptr<HttpServer> http;
  std::unique_ptr<Reporter> reporter;
  pid_t process = ::getpid();
  // A fork has neither the threads nor the right to wait for them.
  ~Observer() {
    if (process == ::getpid()) return;
    (void)http.release();
    (void)reporter.release();
  }
};

std::atomic<bool> observed{false};

Result<std::unique_ptr<HttpServer>> serve_metrics(const Settings& settings) {
  const std::string& port = settings.text("metrics_port");
  if (port == "off") return std::unique_ptr<HttpServer>();
  auto server = HttpServer::start({.host = settings.text("metrics_host"), .port = static_cast<int>(*parse_integer(port))},
                                  pages_of_process());
  if (!server.ok()) return server.status().with_context("metrics_port={}", port);
  log_info("metrics: http://{}/metrics", (*server)->address().to_string());
  return server;
}

double seconds_of(const timeval& time) { return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec); }

int64_t entries_of(const char* folder) {
  DIR* const open = ::opendir(folder);
  if (open == nullptr) return 0;
  int64_t count = -2;  // . and ..
  while (::readdir(open) != nullptr) ++count;
  ::closedir(open);
  return count;
}

void read_process(Readings& readings) {
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  readings.gauge("process_resident_memory_bytes", "Resident memory size in bytes.",
                 static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)));
  readings.counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.",
                   seconds_of(used.ru_utime) + seconds_of(used.ru_stime));
  for (const RunningWork& work : running_work()) {
    readings.gauge("argosy_work_ratio", "How far long work of this process is, from 0 to 1; NaN where it is not known.",
                   work.ratio.value_or(std::nan("")), {{"work", work.what}});
  }
  readings.gauge("process_threads", "Number of threads.", static_cast<double>(entries_of("/proc/self/task")));
  readings.gauge("process_open_fds", "Number of open file descriptors.", static_cast<double>(entries_of("/proc/self/fd")));
}

}  // namespace

void collect_process_metrics() {
  static const Registry::Collection kept = Registry::process().collect(read_process);  // the registry outlives it
}

Status observe_process(const Settings& settings, const std::string& name) {
  static Mutex mutex;
  static Observer observer;  // ends with the process, before the registry, which does not
  static std::string started ARGOSY_GUARDED_BY(mutex);
  MutexLock lock(mutex);
  if (!started.empty()) return {};
  ASSIGN_OR_RETURN(observer.http, serve_metrics(settings));
  started = name;
  if (const std::string& folder = settings.text("trace"); !folder.empty()) RETURN_IF_ERROR(start_trace(folder, name));
  const bool launched = env_text(NoticeReceiver::kVariable).has_value();
  if (launched) answer_stack_requests();
  if (launched) observer.reporter = std::make_unique<Reporter>();
  if (!launched && observer.http == nullptr) return {};
  collect_process_metrics();
  Registry::process()
      .gauge("argosy_process_info", "1; the labels say which process of which job this is.",
             {{"process", name}, {"job", settings.text("job")}})
      .set(1);
  observed = true;
  return {};
}

bool is_observed() { return observed.load(std::memory_order_relaxed); }

void report_now() {
  if (env_text(NoticeReceiver::kVariable).has_value()) notice_report(Registry::process().brief());
}

}  // namespace argosy::observe
