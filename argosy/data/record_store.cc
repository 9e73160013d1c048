#include "argosy/data/record_store.h"

#include <algorithm>

#include "argosy/base/random.h"

namespace argosy::data {
namespace {

constexpr size_t kChunkBytes = 4 << 20;
constexpr size_t kSmallChunk = 1 << 20;  // one that outgrows this gets its full size, so that little stays unused
constexpr int64_t kAhead = 4;  // records to prefetch before they are read
constexpr size_t kCacheLine = 64, kPrefetchBytes = 512;

// A block: this header, then for each record its length (u32) and its bytes. Little-endian, as everything here.
struct BlockHeader {
  uint32_t magic;
  uint32_t version;
  uint64_t fingerprint;
};
constexpr uint32_t kMagic = 0x43524741;  // "AGRC"

void append_bytes(std::string& out, const void* bytes, size_t size) { out.append(static_cast<const char*>(bytes), size); }

// Cuts the next record off the front of `block`.
bool take_record(std::string_view& block, std::string_view& record) {
  uint32_t size;
  if (block.size() < sizeof(size)) return false;
  std::memcpy(&size, block.data(), sizeof(size));
  block.remove_prefix(sizeof(size));
  if (block.size() < size) return false;
  record = block.substr(0, size);
  block.remove_prefix(size);
  return true;
}

}  // namespace

size_t RecordStore::bytes() const {
  size_t total = order_.capacity() * sizeof(Place);
  for (const Chunk& chunk : chunks_) total += chunk.bytes.capacity();
  return total;
}

char* RecordStore::make_room(size_t size) {
  if (chunks_.empty() || chunks_.back().used + size > kChunkBytes) chunks_.emplace_back();
  Chunk& chunk = chunks_.back();
  const size_t wanted = chunk.used + size;
  chunk.bytes.reserve(wanted > chunk.bytes.capacity() && wanted > kSmallChunk ? std::max(wanted, kChunkBytes) : wanted,
                      chunk.used);
  order_.push_back(static_cast<Place>(chunks_.size() - 1) << 32 | chunk.used);
  char* room = chunk.bytes.data() + chunk.used;
  chunk.used += size;
  return room;
}

void RecordStore::append(const Batch& batch) {
  for (int64_t i = 0; i < batch.size; ++i) codec_.write(batch, i, make_room(codec_.size(batch, i)));
}

uint64_t RecordStore::adopt_chunks(RecordStore other) {
  const uint64_t base = chunks_.size();
  std::move(other.chunks_.begin(), other.chunks_.end(), std::back_inserter(chunks_));
  return base;
}

void RecordStore::gather(int64_t first, int64_t count, Batch& batch) const {
  const Place* places = order_.data() + first;
  for (int64_t i = 0; i < count; ++i) {
    if (i + kAhead < count) {
      const char* next = record(places[i + kAhead]);
      for (size_t at = 0; at < kPrefetchBytes; at += kCacheLine) __builtin_prefetch(next + at);
    }
    codec_.read(record(places[i]), batch);
  }
}

void RecordStore::shuffle(uint64_t seed) {
  Random random(seed);
  for (size_t left = order_.size(); left > 1; --left) std::swap(order_[left - 1], order_[random.below(left)]);
}

RecordStore RecordStore::with_slots_of_others(std::span<const size_t> slots, int64_t candidates, uint64_t seed) const {
  constexpr int64_t kAtOnce = 256;
  RecordStore made(codec_.slots());
  Random random(seed);
  std::vector<Place> drawn;  // the candidates: each sample so far is one of them with the same probability
  Batch own, others;
  for (int64_t first = 0; first < size(); first += kAtOnce) {
    const int64_t count = std::min(kAtOnce, size() - first);
    own.reset(codec_.slots());
    others.reset(codec_.slots());
    gather(first, count, own);
    for (int64_t i = first; i < first + count; ++i) {
      const Place place = order_[static_cast<size_t>(i)];
      if (std::ssize(drawn) < candidates) {
        drawn.push_back(place);
      } else if (const uint64_t at = random.below(static_cast<uint64_t>(i) + 1); at < drawn.size()) {
        drawn[at] = place;
      }
      codec_.read(record(drawn[random.below(drawn.size())]), others);
    }
    for (const size_t slot : slots) std::swap(own.columns[slot], others.columns[slot]);
    made.append(own);
  }
  return made;
}

void RecordStore::prepare_take() {
  std::sort(order_.begin(), order_.end());
  taken_ = 0;
}

bool RecordStore::take(uint64_t seed, std::span<std::string> blocks) {
  if (taken_ == size()) return false;
  const Place chunk = order_[static_cast<size_t>(taken_)] >> 32;
  Chunk& source = chunks_[chunk];
  const BlockHeader header{.magic = kMagic, .version = 1, .fingerprint = codec_.fingerprint()};
  while (taken_ < size() && order_[static_cast<size_t>(taken_)] >> 32 == chunk) {
    const Place place = order_[static_cast<size_t>(taken_)];
    const bool last = taken_ + 1 == size() || order_[static_cast<size_t>(taken_) + 1] >> 32 != chunk;
    const size_t begin = place & 0xffffffff, end = last ? source.used : order_[static_cast<size_t>(taken_) + 1] & 0xffffffff;
    std::string& block = blocks[Random(seed, static_cast<uint64_t>(taken_)).below(blocks.size())];
    if (block.empty()) append_bytes(block, &header, sizeof(header));
    const auto size = static_cast<uint32_t>(end - begin);
    append_bytes(block, &size, sizeof(size));
    append_bytes(block, source.bytes.data() + begin, size);
    ++taken_;
  }
  source = Chunk{};
  if (taken_ == size()) {
    std::vector<Place>().swap(order_);
    std::vector<Chunk>().swap(chunks_);
    taken_ = 0;
  }
  return true;
}

Status RecordStore::give(std::string_view block) {
  BlockHeader header{};
  if (block.size() >= sizeof(header)) std::memcpy(&header, block.data(), sizeof(header));
  if (header.magic != kMagic || header.version != 1)
    return Status::data_loss("a block of {} bytes is no block of records", block.size());
  if (header.fingerprint != codec_.fingerprint()) {
    return Status::invalid_argument(
        "records of another worker have other slots than this one; give all workers the same set_use_var");
  }
  block.remove_prefix(sizeof(header));
  std::string_view record;
  for (std::string_view rest = block; !rest.empty();) {
    if (!take_record(rest, record) || !codec_.is_record(record))
      return Status::data_loss("a block of records is damaged {} bytes before its end", rest.size());
  }
  while (take_record(block, record)) std::memcpy(make_room(record.size()), record.data(), record.size());
  return {};
}

}  // namespace argosy::data
