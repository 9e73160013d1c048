#include "argosy/table/row_arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "argosy/base/mutex.h"

namespace argosy::table {
namespace {

constexpr size_t kBigPage = size_t{2} << 20;
constexpr size_t kChunkBytes = size_t{64} << 10;
constexpr uint64_t kMaxSlots = 0xffff'fff0;  // below the index's mark for "none"

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

size_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : size_t{1} << 36;
}

}  // namespace

Result<std::unique_ptr<RowArena>> RowArena::make(size_t row_words) {
  const size_t row_bytes = row_words * sizeof(float);
  const size_t most =
      static_cast<size_t>(std::min<unsigned __int128>(machine_memory(), static_cast<unsigned __int128>(kMaxSlots) * row_bytes));
  const size_t bytes = round_up(most, kBigPage) + 2 * kBigPage;
  void* mapping = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return Status::resource_exhausted(
        "cannot reserve {} bytes of addresses for a table's rows: {}; is there a limit on virtual memory (ulimit -v)?", bytes,
        std::strerror(errno));
  }
  return std::unique_ptr<RowArena>(new RowArena(mapping, bytes, row_words));
}

RowArena::RowArena(void* mapping, size_t mapped_bytes, size_t row_words)
    : row_words_(row_words),
      chunk_rows_(static_cast<uint32_t>(std::max<size_t>(1, kChunkBytes / (row_words * sizeof(float))))),
      mapping_(mapping),
      mapped_bytes_(mapped_bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(mapping);
  const size_t skipped = round_up(begin, kBigPage) - begin;
  base_ = reinterpret_cast<float*>(static_cast<std::byte*>(mapping) + skipped);
  max_rows_ = std::min<uint64_t>(kMaxSlots, (mapped_bytes - skipped) / kBigPage * kBigPage / (row_words * sizeof(float)));
}

RowArena::~RowArena() { munmap(mapping_, mapped_bytes_); }

Result<uint32_t> RowArena::take_chunk() {
  MutexLock lock(mutex_);
  if (rows_ + chunk_rows_ > max_rows_) {
    return Status::resource_exhausted(
        "a table has {} rows in memory, as many as this machine can hold; give it a memory limit and a directory for the rest",
        rows_);
  }
  RETURN_IF_ERROR(commit((rows_ + chunk_rows_) * row_words_ * sizeof(float)));
  const auto first = static_cast<uint32_t>(rows_);
  rows_ += chunk_rows_;
  return first;
}

Status RowArena::commit(size_t bytes) {
  if (bytes <= usable_bytes_) return {};
  auto* const from = reinterpret_cast<std::byte*>(base_) + usable_bytes_;
  const size_t more = round_up(bytes, kBigPage) - usable_bytes_;
  if (mprotect(from, more, PROT_READ | PROT_WRITE) != 0) {
    return Status::resource_exhausted("cannot get {} more bytes for a table's rows: {}", more, std::strerror(errno));
  }
  // A small table shall not take a whole big page. The call is advice: without it rows are only slower to reach.
  if (usable_bytes_ > 0) madvise(from, more, MADV_HUGEPAGE);
  usable_bytes_ += more;
  return {};
}

}  // namespace argosy::table
