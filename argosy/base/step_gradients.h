#pragma once

#include <cstdint>
#include <span>

// What a worker and the parameter servers exchange for a batch, laid over the caller's memory: the engine fills it, fleet hands
// it on, ps sends it. Tables have the numbers that they have in their job (ps::JobSpec::tables).
namespace argosy {

// The batches that a worker trains have numbers: which pass over the data, and which batch of it. A push carries those of its
// batches, and a server applies each number of a worker once, whichever process was killed and restarted in between.
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
  std::span<const uint64_t> keys;  // unique
  const float* values = nullptr;   // keys.size() rows of the table's width
  const float* shows = nullptr;    // one for each key, how often the batch showed it; null: once
  const float* clicks = nullptr;   // one for each key; null: never
};

// The gradient of a whole dense table.
struct DenseGradient {
  int table = 0;
  std::span<const float> values;
};

// What one thread has computed from one batch. A table that the batch did not touch is left out; no table is there twice.
struct StepGradients {
  BatchId batch_id = 0;
  uint32_t samples = 0;  // in the batch; 0 where a script feeds itself
  std::span<const DenseGradient> dense;
  std::span<const RowGradients> rows;
};

// What was read in a pass, for its ledger.
struct ReadCounters {
  uint64_t lines = 0, bad_lines = 0, files = 0;
  uint64_t lines_of_lost = 0;   // left out: a lost worker's batches had them
  uint64_t lines_in_parts = 0;  // of these: which only a part of the servers has
};

}  // namespace argosy
