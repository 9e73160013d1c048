#include "argosy/stores/file_systems.h"

#include <arrow/filesystem/s3fs.h>
#include <arrow/util/config.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>

#include "argosy/base/env_variable.h"
#include "argosy/base/uri.h"
#include "argosy/stores/store_status.h"

namespace argosy::stores_module {
namespace {

constexpr double kConnectSeconds = 5;

thread_local data::StoreRetry* again = nullptr;

// Of requests that are made for parts of an object; everything else is tried again by who asked.
class RetryStrategy : public arrow::fs::S3RetryStrategy {
 public:
  bool ShouldRetry(const AWSErrorDetail& error, int64_t attempted) override {
    if (again == nullptr || !error.should_retry) return false;
    const auto time = again->next(attempted + 1);
    wait_ = time.value_or(std::chrono::milliseconds(0));
    return time.has_value();
  }
  int64_t CalculateDelayBeforeNextRetry(const AWSErrorDetail&, int64_t) override { return wait_.count(); }

 private:
  static thread_local std::chrono::milliseconds wait_;
};
thread_local std::chrono::milliseconds RetryStrategy::wait_{0};

Status start_s3() {
  static const Status started = [] {
    arrow::fs::S3GlobalOptions options = arrow::fs::S3GlobalOptions::Defaults();
    options.log_level = arrow::fs::S3LogLevel::Off;  // its errors come as ours
    return arrow::fs::IsS3Initialized() ? Status() : status_of(arrow::fs::InitializeS3(options));
  }();
  return started;
}

// At exit S3 ends before the statics of its library, some of which a first client makes: what is registered last runs first.
// Ending it a second time, as pyarrow does where a Python has it too, does nothing.
void end_s3_at_exit() {
  static const int registered = std::atexit([] { (void)arrow::fs::EnsureS3Finalized(); });
  (void)registered;
}

Result<StorePath> make_s3(const std::string& uri) {
  RETURN_IF_ERROR(start_s3());
  ASSIGN_OR_RETURN(const data::StoreLimits limits, data::store_limits());
  // Arrow asks AWS for the region of a bucket where the URI names none, whatever the environment says.
  std::string whole = uri;
  const std::string_view query = std::string_view(uri).substr(without_query(uri).size());
  if (query.find("region=") == std::string_view::npos) {
    auto region = variable("AWS_REGION");
    if (!region) region = variable("AWS_DEFAULT_REGION");
    if (region) whole += fmt::format("{}region={}", query.empty() ? "?" : "&", region->value);
  }
  StorePath place;
  ARGOSY_STORES_ASSIGN(arrow::fs::S3Options options, arrow::fs::S3Options::FromUri(whole, &place.path));
  options.connect_timeout = std::min(kConnectSeconds, limits.call_seconds);
  options.request_timeout = limits.call_seconds;
  options.retry_strategy = std::make_shared<RetryStrategy>();
  options.background_writes = false;  // in the thread whose retries they are
  options.allow_delayed_open = true;  // a small object is one request
  ARGOSY_STORES_ASSIGN(place.files, arrow::fs::S3FileSystem::Make(options));
  end_s3_at_exit();
  return place;
}

std::string without_path(const std::string& uri) {
  const std::string_view path = without_query(uri);
  const size_t authority = uri_scheme(uri).size() + 3;
  return std::string(path.substr(0, path.find('/', authority))) + uri.substr(path.size());
}

}  // namespace

Result<StorePath> FileSystems::find(const std::string& uri) {
  const std::string key = without_path(uri);
  std::shared_ptr<arrow::fs::FileSystem> known;
  {
    MutexLock lock(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) known = found->second;
  }
  if (known != nullptr) {
    StorePath place{.files = known, .path = {}};
    ARGOSY_STORES_ASSIGN(place.path, known->PathFromUri(uri));
    return place;
  }
  ASSIGN_OR_RETURN(StorePath made, make(uri));
  MutexLock lock(mutex_);
  made.files = known_.emplace(key, made.files).first->second;
  return made;
}

Result<StorePath> FileSystems::make(const std::string& uri) {
  if (uri_scheme(uri) == "s3") return make_s3(uri);
  StorePath place;
  auto made = arrow::fs::FileSystemFromUri(uri, &place.path);
  if (!made.ok() && made.status().message().find("Unable to load") != std::string::npos)
    return Status::failed_precondition(
        "{}; Java and Hadoop's libhdfs are needed (JAVA_HOME, HADOOP_HOME, and CLASSPATH as `hadoop classpath --glob` says), or "
        "`hadoop fs` "
        "(ARGOSY_HDFS=hadoop)",
        made.status().message().substr(0,
                                       made.status().message().find('\n')));  // a line for each place that was looked at follows
  ARGOSY_STORES_ASSIGN(place.files, std::move(made));
  return place;
}

TriesAgain::TriesAgain(data::StoreRetry& retry) { again = &retry; }
TriesAgain::~TriesAgain() { again = nullptr; }

NoPipeSignal::NoPipeSignal() {
  sigset_t pipe_signal, before, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  was_pending_ = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  was_blocked_ = sigismember(&before, SIGPIPE) == 1;
}

NoPipeSignal::~NoPipeSignal() {
  if (was_blocked_) return;
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  const timespec now{};
  if (!was_pending_) (void)sigtimedwait(&pipe_signal, nullptr, &now);
  pthread_sigmask(SIG_UNBLOCK, &pipe_signal, nullptr);
}

}  // namespace argosy::stores_module
