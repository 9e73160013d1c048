#include "argosy/base/status.h"

#include <array>

namespace argosy {

std::string_view code_name(Code code) {
  static constexpr std::array<std::string_view, 17> kNames = {
      "ok",        "cancelled",      "unknown",           "invalid_argument",   "deadline_exceeded",
      "not_found", "already_exists", "permission_denied", "resource_exhausted", "failed_precondition",
      "aborted",   "out_of_range",   "unimplemented",     "internal",           "unavailable",
      "data_loss", "unauthenticated"};
  const auto index = static_cast<size_t>(code);
  return index < kNames.size() ? kNames[index] : "unknown";
}

std::string Status::to_string() const {
  if (ok()) return "ok";
  return fmt::format("{}: {}", code_name(code_), message_);
}

}  // namespace argosy
