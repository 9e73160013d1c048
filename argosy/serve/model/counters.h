#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "argosy/base/mutex.h"
#include "argosy/base/status.h"

namespace argosy::serve {

// What a server counts, as the text of Prometheus; source_metrics() of describe_model.h is the rest of its page /metrics.
// Thread-safe.
class ServeCounters {
 public:
  void add_request(int http_status, double seconds);
  void add_request(Code grpc_status, double seconds);
  void add_batch(int64_t requests, int64_t samples);
  void add_reload(bool good);
  void set_queued(int64_t requests) { queued_ = requests; }
  void set_connections(int64_t connections) { connections_ = connections; }

  std::string text(const std::string& model, const std::string& version) const;

 private:
  void add_labelled(std::string labels, double seconds);

  static constexpr std::array<double, 11> kSeconds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10};

  mutable Mutex mutex_;
  std::map<std::string, int64_t> requests_ ARGOSY_GUARDED_BY(mutex_);  // by their labels: code, and protocol where it is gRPC
  std::array<int64_t, kSeconds.size()> within_ ARGOSY_GUARDED_BY(mutex_) = {};
  int64_t timed_ ARGOSY_GUARDED_BY(mutex_) = 0;
  double seconds_ ARGOSY_GUARDED_BY(mutex_) = 0;
  std::atomic<int64_t> batches_{0}, batched_requests_{0}, samples_{0}, reloads_{0}, failed_reloads_{0}, queued_{0},
      connections_{0};
};

}  // namespace argosy::serve
