#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/observe/metrics.h"
#include "argosy/ps/client/row_residuals.h"
#include "argosy/ps/spec/job_spec.h"

namespace argosy::ps {

// Rounds the gradients of a worker's pushes as its tables' wire formats say. What int8 leaves out of a parameter or row is added
// to the gradient of its next push (error feedback), so that it is late instead of lost; the state is this process's, and a
// worker that is started again begins with none.
//
// Thread-safe.
class PushRounder {
 public:
  explicit PushRounder(const JobSpec& spec);

  bool rounds() const { return rounds_; }          // some table's numbers: messages are packed
  bool has_feedback() const { return feedback_; }  // some table's are int8

  // Elements [begin, begin + gradient.size()) of a dense table, to wire_bytes() bytes at `to`.
  void round_dense(int table, uint64_t begin, std::span<const float> gradient, std::byte* to);
  // Rows of keys of which no two are equal.
  void round_rows(int table, std::span<const uint64_t> keys, std::span<const float> rows, std::byte* to);

 private:
  struct Residuals {
    std::vector<float> dense;  // of the whole table, since its first push
    std::unique_ptr<RowResiduals> rows;
  };

  const JobSpec& spec_;
  bool rounds_ = false, feedback_ = false;

  Mutex mutex_;
  std::vector<Residuals> residuals_ ARGOSY_GUARDED_BY(mutex_);  // by table
  std::vector<float> sum_ ARGOSY_GUARDED_BY(mutex_), left_ ARGOSY_GUARDED_BY(mutex_);  // used again by each call
  observe::Counter& dropped_ =
      observe::Registry::process().counter("argosy_worker_wire_residuals_dropped_total",
                                           "Rows whose rest of int8 rounding was dropped, because too many others had one.");
};

}  // namespace argosy::ps
