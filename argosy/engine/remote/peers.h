#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"

namespace argosy::engine {

// How gradients travel between the processes of a collective job.
struct AverageOptions {
  double piece_mb = 32;         // sent in pieces of about this size
  bool half_precision = false;  // as float16
};

// What the engine needs of the other processes of a collective job. fleet implements it; the engine knows no more about them.
// Every process makes the same calls in the same order. Thread-compatible: programs of such jobs have one thread.
class Peers {
 public:
  virtual ~Peers() = default;
  virtual Result<int> count() = 0;  // of processes; the first call waits for the others
  virtual Status average(const std::vector<at::Tensor>& tensors, const AverageOptions& options) = 0;  // in place
  virtual Status take_from_first(const std::vector<at::Tensor>& tensors) = 0;                       // in place
  virtual Result<std::vector<std::string>> gather(const std::string& bytes) = 0;  // process by process
};

// Operators that meet them, through the Context of the run.
inline constexpr std::string_view kAverageOp = "average_gradients";
inline constexpr std::string_view kTakeFromFirstOp = "take_from_first";

}  // namespace argosy::engine
