#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/optim/regularize.h"
#include "argosy/optim/rule.h"

namespace argosy::ps {

// A geo worker's copy of the rows that it has used of one sparse table. Beside each row's values stands the *base*: what the
// servers would hold if they had only this worker's sent differences and what it has received. values - base is the unsent part.
// The rule's element states stand behind both: they are this worker's alone, and begin anew with its copy.
//
// Thread-safe: shards with a lock each, which is held for one row at a time.
class GeoRows {
 public:
  // `rule` trains the rows, and outlives this.
  GeoRows(size_t width, const optim::Rule& rule);

  // Copies the rows of known keys to their places in `rows`; the places of the others go to `unknown`.
  void read(std::span<const uint64_t> keys, float* rows, std::vector<uint32_t>& unknown);
  // Takes over rows of the servers, but for those that it knows.
  void insert(std::span<const uint64_t> keys, const float* rows);

  // A step of the rule on the rows of `keys`, where `wanted` (empty: all); a row that is not known is left out.
  void train(std::span<const uint64_t> keys, const float* gradients, const optim::Step& step,
             const std::optional<optim::Regularization>& regularization, const std::function<bool(uint64_t key)>& wanted);

  // Appends, for each row trained since the last call, its key and share * (values - base), and adds that to its base.
  void collect(float share, std::vector<uint64_t>& keys, std::vector<float>& differences);

  // What the servers hold now: others' changes are added to the values, the unsent part stays. Unknown keys are left out.
  void receive(std::span<const uint64_t> keys, std::span<const float> rows);

  // The servers were given these values: so are the rows here, without an unsent part. Unknown keys are left out.
  void replace(std::span<const uint64_t> keys, std::span<const float> rows);

  // The sum of the absolute values of the unsent parts.
  double unsent();
  // Forgets all rows, and what is unsent of them.
  void clear();

 private:
  static constexpr size_t kShards = 16;

  struct Shard {
    Mutex mutex;
    absl::flat_hash_map<uint64_t, uint32_t> slots ARGOSY_GUARDED_BY(mutex);
    std::vector<uint64_t> keys ARGOSY_GUARDED_BY(mutex);     // by slot
    std::vector<float> floats ARGOSY_GUARDED_BY(mutex);      // by slot: values, then base, then each state of the rule
    std::vector<bool> trained ARGOSY_GUARDED_BY(mutex);      // by slot: is in `touched`
    std::vector<uint32_t> touched ARGOSY_GUARDED_BY(mutex);  // slots trained since the last collect()
  };

  Shard& shard_of(uint64_t key) { return shards_[(key * 0x9e3779b97f4a7c15ULL) >> 60]; }
  // Calls body(place in keys, row) for each key that this worker has, under its shard's lock.
  template <typename Body>
  void for_known(std::span<const uint64_t> keys, const Body& body);
  float* values(Shard& shard, uint32_t slot) const ARGOSY_REQUIRES(shard.mutex) {
    return shard.floats.data() + size_t{slot} * stride_;
  }
  void apply(float* row, const float* gradient, const optim::Step& step) const;

  const size_t width_;
  const optim::Rule& rule_;
  const std::vector<float> initial_states_;  // of a new row
  const size_t stride_;                    // floats per slot
  std::array<Shard, kShards> shards_;
};

}  // namespace argosy::ps
