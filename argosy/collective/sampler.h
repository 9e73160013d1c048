#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "argosy/base/status.h"

namespace argosy::collective {

struct BatchSamplerOptions {
  int64_t batch_size = 1;
  bool shuffle = false;
  bool drop_last = false;  // leave out the last batch of a pass where it is not full
  uint64_t seed = 0;       // the order of a pass is made from it and the pass's number, equal on all ranks
};

// A rank's share of a dataset, in batches. Every rank has as many: the list of samples is filled up from its beginning, so that
// no collective waits for one that ran out. The position within a pass can be saved and restored. Thread-compatible.
class BatchSampler {
 public:
  // `size` samples; REQUIRES: 0 <= rank < ranks, batch_size > 0.
  BatchSampler(int64_t size, int rank, int ranks, BatchSamplerOptions options);

  void set_epoch(int64_t epoch);  // from the beginning of that pass
  int64_t epoch() const { return epoch_; }
  int64_t size() const;  // batches per pass

  // The next batch, of indices into the dataset; empty at the end of the pass.
  std::vector<int64_t> next();
  // Batches that next() has given in this pass.
  int64_t position() const { return position_; }

  // "epoch position size ranks batch_size seed", for a checkpoint. restore() refuses that of another dataset or share: with
  // another number of ranks a pass is begun again, and the status says so.
  std::string save() const;
  Status restore(const std::string& text);

 private:
  void arrange();
  int64_t share() const;  // samples of this rank in a pass

  const int64_t samples_;
  const int rank_, ranks_;
  const BatchSamplerOptions options_;
  int64_t epoch_ = 0, position_ = 0;
  std::vector<int64_t> mine_;  // this pass's, in order
};

}  // namespace argosy::collective
