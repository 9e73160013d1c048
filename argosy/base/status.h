#pragma once

#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "argosy/base/check.h"

namespace argosy {

// What went wrong, in kind. The numbers are gRPC's, so that a code crosses the wire unchanged.
enum class Code : int {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

std::string_view code_name(Code code);

// The outcome of a call that can fail for reasons outside the program: input, disk, peer. A message names the thing, what
// was found, what was expected, and what to do next. Thread-compatible.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status ok_status() { return {}; }

#define ARGOSY_STATUS_MAKER(code)                                                \
  template <typename... Args>                                                    \
  static Status code(fmt::format_string<Args...> format, Args&&... args) {       \
    return Status(Code::code, fmt::format(format, std::forward<Args>(args)...)); \
  }
  ARGOSY_STATUS_MAKER(cancelled)
  ARGOSY_STATUS_MAKER(unknown)
  ARGOSY_STATUS_MAKER(invalid_argument)
  ARGOSY_STATUS_MAKER(deadline_exceeded)
  ARGOSY_STATUS_MAKER(not_found)
  ARGOSY_STATUS_MAKER(already_exists)
  ARGOSY_STATUS_MAKER(permission_denied)
  ARGOSY_STATUS_MAKER(resource_exhausted)
  ARGOSY_STATUS_MAKER(failed_precondition)
  ARGOSY_STATUS_MAKER(aborted)
  ARGOSY_STATUS_MAKER(out_of_range)
  ARGOSY_STATUS_MAKER(unimplemented)
  ARGOSY_STATUS_MAKER(internal)
  ARGOSY_STATUS_MAKER(unavailable)
  ARGOSY_STATUS_MAKER(data_loss)
  ARGOSY_STATUS_MAKER(unauthenticated)
#undef ARGOSY_STATUS_MAKER

  bool ok() const { return code_ == Code::ok; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // "ok", or "not_found: <message>".
  std::string to_string() const;

  // The same code, with "<context>: " before the message. An ok status stays as it is.
  template <typename... Args>
  Status with_context(fmt::format_string<Args...> format, Args&&... args) const {
    if (ok()) return *this;
    return Status(code_, fmt::format(format, std::forward<Args>(args)...) + ": " + message_);
  }

  friend bool operator==(const Status&, const Status&) = default;

 private:
  Code code_ = Code::ok;
  std::string message_;
};

// A value, or the status that says why there is none. Thread-compatible.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) { ARGOSY_CHECK(!status_.ok(), "a Result without a value needs an error"); }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  // REQUIRES: ok().
  T& value() & { return checked(); }
  const T& value() const& { return const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(checked()); }
  T& operator*() & { return checked(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &value(); }

 private:
  T& checked() {
    ARGOSY_CHECK(value_.has_value(), status_.message());
    return *value_;
  }

  Status status_;
  std::optional<T> value_;
};

}  // namespace argosy

#define ARGOSY_CONCAT_INNER(a, b) a##b
#define ARGOSY_CONCAT(a, b) ARGOSY_CONCAT_INNER(a, b)

// Leaves the function with the error of a Status; or of a Result, whose value is assigned otherwise.
#define ARGOSY_RETURN_IF_ERROR(expression)                                    \
  do {                                                                        \
    if (::argosy::Status argosy_status = (expression); !argosy_status.ok()) { \
      return argosy_status;                                                   \
    }                                                                         \
  } while (false)

#define ARGOSY_ASSIGN_OR_RETURN(declaration, expression) \
  ARGOSY_ASSIGN_OR_RETURN_INNER(ARGOSY_CONCAT(argosy_result_, __LINE__), declaration, expression)
#define ARGOSY_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                          \
  if (!result.ok()) return result.status();                            \
  declaration = std::move(result).value()

#if __has_include("argosy/base/status_macros.h")
#include "argosy/base/status_macros.h"  // short names for our own sources; not installed
#endif
