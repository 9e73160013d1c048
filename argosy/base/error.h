#pragma once

#include <stdexcept>

#include "argosy/base/status.h"

namespace argosy {

// What the public C++ API throws, and the only thing it throws. Inside the core the same failure is a Status.
class Error : public std::runtime_error {
 public:
  explicit Error(const Status& status) : std::runtime_error(status.message()), code_(status.code()) {}

  Code code() const { return code_; }
  Status status() const { return Status(code_, what()); }

 private:
  Code code_;
};

// The edge between the two: throws where `status` is an error.
inline void throw_if_error(const Status& status) {
  if (!status.ok()) throw Error(status);
}

template <typename T>
T value_or_throw(Result<T> result) {
  throw_if_error(result.status());
  return std::move(result).value();
}

}  // namespace argosy
