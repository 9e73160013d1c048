#pragma once

#include <cstdint>
#include <span>

// What a worker and the servers exchange in a step, laid over the caller's memory. Tables are indices into JobSpec.tables.
namespace argosy::ps {

// The batches that a worker trains have numbers (job_spec.h: batch_id). A push carries those of its batches, and a server
// applies each number of a worker once, whoever was killed and started again in between.
using BatchId = uint64_t;

// Rows to be read.
struct RowRequest {
  int table = 0;
  std::span<const uint64_t> keys;  // unique
  float* rows = nullptr;           // where they go: keys.size() rows of the table's width, in the order of keys
  bool create = true;              // false (evaluation): an unknown key gives what a new row would hold, and is not made
};

// Gradients of rows; in geo mode the servers get differences in this form.
struct RowGradients {
  int table = 0;
  std::span<const uint64_t> keys;   // unique
  const float* values = nullptr;    // keys.size() rows of the table's width
  const float* shows = nullptr;     // one a key, how often the batch showed it; null: once
  const float* clicks = nullptr;    // one a key; null: never
};

// The gradient of a whole dense table.
struct DenseGradient {
  int table = 0;
  std::span<const float> values;
};

// Lines of one file, by their numbers from 1.
struct LineRange {
  uint64_t first = 0, count = 0;

  friend bool operator==(const LineRange&, const LineRange&) = default;
};

// Lines of a file that a batch was made of: the file's place in the list of files, and their numbers from 1.
struct BatchLines {
  BatchId batch = 0;
  uint64_t file = 0, first = 0, count = 0;
};

// What one thread has computed from one batch. A table that the batch did not touch is left out; no table is there twice.
struct StepGradients {
  BatchId batch_id = 0;
  uint32_t samples = 0;  // in the batch; 0 where a script feeds itself
  std::span<const DenseGradient> dense;
  std::span<const RowGradients> rows;
};

}  // namespace argosy::ps
