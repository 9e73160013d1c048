#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "argosy/base/clock.h"
#include "argosy/base/log.h"
#include "argosy/base/status.h"
#include "argosy/data/byte_stream.h"

namespace argosy::data {

struct StoreLimits {
  double seconds = 60;       // ARGOSY_STORE_SECONDS: how long a store may fail
  double call_seconds = 10;  // ARGOSY_STORE_CALL_SECONDS: without a byte, after which a request counts as failed
};
Result<StoreLimits> store_limits();

// When a request that failed is made again: after waits that double, until so many seconds have passed since the first failure in
// a row, or until stop(). Thread-compatible.
class StoreRetry {
 public:
  StoreRetry(double seconds, const StopSignal* stop) : seconds_(seconds), stop_(stop) {}

  // How long to wait after so many failures in a row; none: no more tries.
  std::optional<std::chrono::milliseconds> next(int64_t failures);
  // Waits that long; false: stop() or the user ended it.
  bool wait(std::chrono::milliseconds time) const;

  bool stopped() const { return stop_ != nullptr && stop_->stopped(); }
  double seconds() const { return seconds_; }
  bool given_up() const { return given_up_; }  // next() has said so

 private:
  const double seconds_;
  const StopSignal* const stop_;
  SteadyClock::time_point first_failure_{};
  bool given_up_ = false;
};

namespace retry {
Status status_of(const Status& outcome);
template <typename T>
const Status& status_of(const Result<T>& outcome) {
  return outcome.status();
}
// What is said of a call that did not succeed, and will not.
Status final_status(const Status& last, const std::string& uri, std::string_view done, int64_t failures, const StoreRetry& retry);
}  // namespace retry

// The outcome of `work`, a Status or Result, which is called again while it is `unavailable`. `done` is for messages: "read".
template <typename Work>
auto retried(const std::string& uri, std::string_view done, const StopSignal* stop, Work&& work) -> decltype(work()) {
  ASSIGN_OR_RETURN(const StoreLimits limits, store_limits());
  StoreRetry retry(limits.seconds, stop);
  for (int64_t failures = 0;;) {
    auto outcome = work();
    const Status status = retry::status_of(outcome);
    if (status.ok()) return outcome;
    if (status.code() != Code::unavailable) return retry::final_status(status, uri, done, 0, retry);
    const auto time = retry.next(++failures);
    if (!time) return retry::final_status(status, uri, done, failures, retry);
    if (failures == 1)
      log_warning("'{}' could not be {}, and is tried again for up to {} s: {}", uri, done, limits.seconds, status.message());
    if (!retry.wait(*time)) return Status::cancelled("the wait for the store of '{}' was ended", uri);
  }
}

}  // namespace argosy::data
