#include "argosy/data/store_retry.h"

#include <poll.h>

#include <algorithm>

#include "argosy/base/env.h"
#include "argosy/base/identity.h"
#include "argosy/base/wait_check.h"

namespace argosy::data {
namespace {

constexpr double kFirstWait = 0.1, kLongestWait = 5;  // seconds
constexpr std::chrono::milliseconds kAskEvery{200};  // whether a user wants the wait to end

Result<double> seconds_of(const char* name, double otherwise) {
  ASSIGN_OR_RETURN(const auto given, env_number(name));
  if (!given) return otherwise;
  if (*given > 0 && *given <= 86400) return *given;
  return Status::invalid_argument("environment variable {} is {}, expected a number of seconds above 0, at most 86400", name,
                                  *given);
}

}  // namespace

Result<StoreLimits> store_limits() {
  StoreLimits limits;
  ASSIGN_OR_RETURN(limits.seconds, seconds_of("ARGOSY_STORE_SECONDS", limits.seconds));
  ASSIGN_OR_RETURN(limits.call_seconds, seconds_of("ARGOSY_STORE_CALL_SECONDS", limits.call_seconds));
  return limits;
}

std::optional<std::chrono::milliseconds> StoreRetry::next(int64_t failures) {
  const auto now = SteadyClock::now();
  if (failures <= 1) first_failure_ = now;
  const double left = seconds_ - std::chrono::duration<double>(now - first_failure_).count();
  given_up_ = left <= 0 || stopped();
  if (given_up_) return std::nullopt;
  const double longest =
      std::min(kLongestWait, kFirstWait * static_cast<double>(int64_t{1} << std::clamp<int64_t>(failures - 1, 0, 20)));
  // Many processes that failed at the same moment come back at different ones.
  const double drawn = longest * (0.5 + 0.5 * static_cast<double>(draw_identity() >> 11) * 0x1.0p-53);
  return std::chrono::milliseconds(static_cast<int64_t>(1000 * std::min(drawn, left)) + 1);
}

bool StoreRetry::wait(std::chrono::milliseconds time) const {
  const Deadline deadline = Deadline::after(time);
  while (!deadline.passed()) {
    const auto left = std::min<int64_t>(kAskEvery.count(), static_cast<int64_t>(1000 * deadline.seconds_left()) + 1);
    pollfd stopped{.fd = stop_ != nullptr ? stop_->fd() : -1, .events = POLLIN, .revents = 0};  // a negative one is passed over
    if (::poll(&stopped, 1, static_cast<int>(left)) > 0 || wait_cancelled()) return false;
  }
  return true;
}

namespace retry {

Status status_of(const Status& outcome) { return outcome; }

Status final_status(const Status& last, const std::string& uri, std::string_view done, int64_t failures,
                    const StoreRetry& retry) {
  if (failures > 0 && retry.stopped()) return Status::cancelled("the wait for the store of '{}' was ended", uri);
  if (failures > 0 || last.code() == Code::deadline_exceeded)
    return Status::unavailable(
        "'{}' could not be {} in {} s, however often it was tried: {}. Is the store up, and is it the right one "
        "(endpoint_override=… in the URI, "
        "AWS_ENDPOINT_URL)? ARGOSY_STORE_SECONDS is how long it is waited for",
        uri, done, retry.seconds(), last.message());
  if (last.code() == Code::permission_denied)
    return Status::permission_denied(
        "'{}' could not be {}: {}. The store does not let these credentials do it: look at AWS_ACCESS_KEY_ID, AWS_PROFILE or "
        "what else the "
        "store's tools read, and at the bucket's policy",
        uri, done, last.message());
  return Status(last.code(), fmt::format("'{}' could not be {}: {}", uri, done, last.message()));
}

}  // namespace retry

}  // namespace argosy::data
