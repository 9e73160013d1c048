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

// Of a batch normalization over all processes.
struct PeerBatchNorm {
  at::Tensor scale, bias;     // one value per channel
  at::Tensor mean, variance;  // the running ones, which move in place
  double momentum = 0.9;      // what remains of them in a step
  double epsilon = 1e-5;
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
  // `input`, [samples, channels, …], normalized over the samples of all processes; with gradients. Throws c10::Error.
  virtual at::Tensor batch_norm(const at::Tensor& input, const PeerBatchNorm& state) = 0;
};

// Operators that meet them, through the Context of the run.
inline constexpr std::string_view kAverageOp = "average_gradients";
inline constexpr std::string_view kTakeFromFirstOp = "take_from_first";
inline constexpr std::string_view kAverageParametersOp = "average_parameters";
inline constexpr std::string_view kSyncBatchNormOp = "sync_batch_norm";
// It meets nobody: the gradients of several steps become one.
inline constexpr std::string_view kMergeOp = "merge_gradients";

}  // namespace argosy::engine
