#include "argosy/serve/model/counters.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace argosy::serve {
namespace {

void add(std::string& text, const char* name, const char* type, const char* help, int64_t value) {
  fmt::format_to(std::back_inserter(text), "# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, type, value);
}

}  // namespace

void ServeCounters::add_request(int http_status, double seconds) {
  add_labelled(fmt::format("code=\"{}\"", http_status), seconds);
}

void ServeCounters::add_request(Code grpc_status, double seconds) {
  add_labelled(fmt::format("code=\"{}\",protocol=\"grpc\"", code_name(grpc_status)), seconds);
}

void ServeCounters::add_labelled(std::string labels, double seconds) {
  MutexLock lock(mutex_);
  ++requests_[std::move(labels)];
  ++timed_;
  seconds_ += seconds;
  for (size_t i = 0; i < kSeconds.size(); ++i)
    if (seconds <= kSeconds[i]) ++within_[i];
}

void ServeCounters::add_batch(int64_t requests, int64_t samples) {
  ++batches_;
  batched_requests_ += requests;
  samples_ += samples;
}

void ServeCounters::add_reload(bool good) { ++(good ? reloads_ : failed_reloads_); }

std::string ServeCounters::text(const std::string& model, const std::string& version) const {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "# HELP argosy_serve_model_info The model that is served.\n# TYPE argosy_serve_model_info gauge\n");
  fmt::format_to(out, "argosy_serve_model_info{{model=\"{}\",version=\"{}\"}} 1\n", model, version);
  {
    MutexLock lock(mutex_);
    fmt::format_to(
        out,
        "# HELP argosy_serve_requests_total Answered requests for predictions.\n# TYPE argosy_serve_requests_total counter\n");
    for (const auto& [labels, count] : requests_) fmt::format_to(out, "argosy_serve_requests_total{{{}}} {}\n", labels, count);
    fmt::format_to(out,
                   "# HELP argosy_serve_request_seconds From a request's arrival to its answer.\n# TYPE "
                   "argosy_serve_request_seconds histogram\n");
    for (size_t i = 0; i < kSeconds.size(); ++i)
      fmt::format_to(out, "argosy_serve_request_seconds_bucket{{le=\"{}\"}} {}\n", kSeconds[i], within_[i]);
    fmt::format_to(out,
                   "argosy_serve_request_seconds_bucket{{le=\"+Inf\"}} {0}\nargosy_serve_request_seconds_sum "
                   "{1}\nargosy_serve_request_seconds_count {0}\n",
                   timed_, seconds_);
  }
  add(text, "argosy_serve_batches_total", "counter", "Runs of the model.", batches_);
  add(text, "argosy_serve_batched_requests_total", "counter", "Requests that those runs answered.", batched_requests_);
  add(text, "argosy_serve_samples_total", "counter", "Samples that were predicted.", samples_);
  add(text, "argosy_serve_queued_requests", "gauge", "Requests that wait for a run.", queued_);
  add(text, "argosy_serve_connections", "gauge", "Open connections.", connections_);
  add(text, "argosy_serve_reloads_total", "counter", "New versions that went into service.", reloads_);
  add(text, "argosy_serve_failed_reloads_total", "counter", "New versions that were refused.", failed_reloads_);
  return text;
}

}  // namespace argosy::serve
