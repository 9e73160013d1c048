#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "argosy/base/step_gradients.h"
#include "argosy/optim/row_sums.h"
#include "argosy/ps/spec/job_spec.h"

namespace argosy::ps {

// A batch's gradients, copied out of a trainer thread's memory. Used again and again, it keeps its memory.
// Thread-compatible.
class GradientCopy {
 public:
  void assign(const JobSpec& spec, const StepGradients& gradients);

  StepGradients view() const { return {.batch_id = batch_, .samples = samples_, .dense = dense_, .rows = rows_}; }

  // The values of a table, to be changed; empty where the batch has none.
  std::span<float> values(int table);

 private:
  BatchId batch_ = 0;
  uint32_t samples_ = 0;
  std::vector<DenseGradient> dense_;  // over floats_
  std::vector<RowGradients> rows_;    // over keys_ and floats_
  std::vector<std::span<float>> values_;  // by table
  std::vector<uint64_t> keys_;
  std::vector<float> floats_;
};

// The gradients of several batches as one: equal keys added up, shows and clicks too. Used again and again, it keeps its
// memory. Thread-compatible.
class MergedGradients {
 public:
  // scale * the sum over `batches`; a table is there where one of them has it.
  void merge(const JobSpec& spec, std::span<const StepGradients> batches, float scale);

  std::span<const BatchId> batches() const { return batches_; }
  std::span<const uint32_t> samples() const { return samples_; }  // of each batch
  std::span<const DenseGradient> dense() const { return dense_; }
  std::span<const RowGradients> rows() const { return rows_; }

 private:
  struct Table {
    bool touched = false;
    std::vector<float> dense;
    size_t keys = 0;  // of all batches
    bool statistics = false;
    optim::RowSums sums;
    std::vector<float> shows, clicks;  // by slot of sums
  };

  void add_dense(const DenseGradient& gradient, float scale);
  void add_rows(const RowGradients& gradients, float scale);

  std::vector<Table> tables_;
  std::vector<BatchId> batches_;
  std::vector<uint32_t> samples_;
  std::vector<DenseGradient> dense_;
  std::vector<RowGradients> rows_;
};

}  // namespace argosy::ps
