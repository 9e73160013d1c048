#include "argosy/collective/guard.h"

#include <c10/util/Exception.h>
#include <torch/csrc/distributed/c10d/exception.h>

namespace argosy::collective {
namespace {

bool mentions(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const auto word : words) {
    if (text.find(word) != text.npos) return true;
  }
  return false;
}

// Gloo's errors have one class; only their words tell a silent peer from one that hung up.
Status from_words(std::string text) {
  text.resize(std::min(text.size(), text.find("\nException raised from")));
  if (mentions(text, {"imed out", "imeout"})) return Status(Code::deadline_exceeded, text);
  if (mentions(text, {"onnection closed", "onnection reset", "onnection refused", "roken pipe", "ocket"})) {
    return Status(Code::unavailable, text);
  }
  return Status(Code::internal, text);
}

}  // namespace

Status guarded(const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const c10d::TimeoutError& error) {
    return Status(Code::deadline_exceeded, error.what_without_backtrace());
  } catch (const c10::ValueError& error) {
    return Status(Code::invalid_argument, error.what_without_backtrace());
  } catch (const c10::Error& error) {
    return from_words(error.what_without_backtrace());
  } catch (const std::exception& error) {
    return from_words(error.what());
  }
}

}  // namespace argosy::collective
