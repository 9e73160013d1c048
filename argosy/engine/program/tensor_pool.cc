#include "argosy/engine/program/tensor_pool.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <new>
#include <vector>

#include "argosy/base/mutex.h"

namespace argosy::engine {
namespace {

constexpr size_t kSmall = 64 << 10;  // malloc keeps what is smaller
constexpr uint64_t kStale = 64;      // a block that so many takes had no use for is freed
constexpr std::align_val_t kAlignment{64};

// Sizes are rounded up to one of eight between two powers of two, so that batches of nearly equal size share blocks. The
// pages behind what was asked for are never touched.
size_t size_class(size_t bytes) {
  const size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

// The blocks of one thread. Thread-safe.
class Pool {
 public:
  ~Pool() {
    for (const Block& block : free_) ::operator delete(block.memory, kAlignment);
  }

  void* take(size_t size) {
    {
      MutexLock lock(mutex_);
      ++takes_;
      const auto found = std::find_if(free_.rbegin(), free_.rend(), [size](const Block& block) { return block.size == size; });
      if (found != free_.rend()) {
        void* memory = found->memory;
        free_.erase(std::next(found).base());
        return memory;
      }
    }
    return ::operator new(size, kAlignment);
  }

  void give(void* memory, size_t size) {
    std::vector<Block> stale;
    {
      MutexLock lock(mutex_);
      const uint64_t now = takes_;
      free_.push_back({memory, size, now});
      const auto fresh =
          std::find_if(free_.begin(), free_.end(), [now](const Block& block) { return block.since + kStale > now; });
      stale.assign(free_.begin(), fresh);
      free_.erase(free_.begin(), fresh);
    }
    for (const Block& block : stale) ::operator delete(block.memory, kAlignment);
  }

 private:
  struct Block {
    void* memory;
    size_t size;
    uint64_t since;  // the value of takes_ when it was given
  };
  Mutex mutex_;
  uint64_t takes_ ARGOSY_GUARDED_BY(mutex_) = 0;
  std::vector<Block> free_ ARGOSY_GUARDED_BY(mutex_);  // longest free first
};

}  // namespace

at::Tensor pooled_tensor(at::IntArrayRef sizes, const at::TensorOptions& options) {
  const at::ScalarType type = c10::typeMetaToScalarType(options.dtype());
  if (!options.device().is_cpu()) return at::empty(sizes, options.requires_grad(false));

  thread_local const auto pool = std::make_shared<Pool>();
  int64_t elements = 1;
  for (const int64_t size : sizes) elements *= size;
  const size_t bytes = static_cast<size_t>(elements) * c10::elementSize(type);
  if (bytes < kSmall) return at::empty(sizes, type);
  const size_t size = size_class(bytes);
  return at::from_blob(
      pool->take(size), sizes, [owner = pool, size](void* memory) { owner->give(memory, size); }, at::TensorOptions(type));
}

}  // namespace argosy::engine
