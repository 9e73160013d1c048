// The calls of SparseTable that go over whole rows: export, import, shrink, clear.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <utility>

#include "argosy/base/mutex.h"
#include "argosy/table/cold_access.h"
#include "argosy/table/cold_store.h"
#include "argosy/table/row_arena.h"
#include "argosy/table/shard.h"
#include "argosy/table/sparse_table.h"

namespace argosy::table {
namespace {

constexpr size_t kPieceBytes = size_t{256} << 10;  // about what is read of the disk at once

// By the difference, as steps are kept modulo 2^32.
bool later(uint32_t step, uint32_t than) { return static_cast<int32_t>(step - than) > 0; }

}  // namespace

// Of each shard: first the waiting keys, then the rows on disk, then those in memory. A key only moves in this direction
// while an Export is open, so none can slip through.
struct SparseTable::Export::State {
  enum Phase { begin, waiting, cold, memory };

  const SparseTable& table;
  const std::optional<uint64_t> changed_since;
  size_t shard = 0;
  Phase phase = begin;
  std::vector<uint64_t> keys = {};  // that wait
  std::shared_ptr<ColdStore> store = {};  // outlives the cursor, also where the table takes the rows of another
  std::unique_ptr<ColdStore::Cursor> cursor = {};
  size_t at = 0;  // in keys, or a position

  State(const SparseTable& of, std::optional<uint64_t> since) : table(of), changed_since(since) { ++table.exports_; }
  ~State() { --table.exports_; }

  bool wanted(const RowCounters& counters) const {
    return !changed_since || later(counters.seen_step, static_cast<uint32_t>(*changed_since));
  }

  void append(const RowView& row, std::string& out) const {
    if (wanted(row.counters)) table.codec_.append(row, out);
  }

  // Goes on in the current shard until `out` has `enough` bytes; true: the shard is done.
  Result<bool> advance(const Shard& rows, size_t enough, std::string& out) {
    if (phase == begin) begin_shard(rows);
    if (phase == waiting && !append_waiting(rows, enough, out)) return false;
    while (phase == cold) {
      if (out.size() >= enough) return false;
      RETURN_IF_ERROR(append_cold(rows, enough, out));
    }
    const ShardLock lock(rows.mutex());
    for (; at < rows.positions(); ++at) {
      if (out.size() >= enough) return false;
      if (const uint32_t slot = rows.slot_at(at); slot != kNoSlot) append(table.layout_.view(rows.row(slot)), out);
    }
    return true;
  }

  void begin_shard(const Shard& rows) {
    {
      const ShardLock lock(rows.mutex());
      for (const auto& [key, counters] : rows.waiting()) keys.push_back(key);
      store = rows.cold();
    }
    if (store) cursor = store->rows(rows.number());
    phase = waiting;
  }

  bool append_waiting(const Shard& rows, size_t enough, std::string& out) {
    const ShardLock lock(rows.mutex());
    for (; at < keys.size(); ++at) {
      if (out.size() >= enough) return false;
      const auto found = rows.waiting().find(keys[at]);
      if (found != rows.waiting().end()) append({.key = keys[at], .admitted = false, .counters = found->second}, out);
    }
    keys.clear();
    at = 0;
    phase = cold;
    return true;
  }

  Status append_cold(const Shard& rows, size_t enough, std::string& out) {
    if (cursor && cursor->valid()) {
      const size_t most = std::min(enough - out.size(), kPieceBytes) / table.layout_.bytes() + 1;
      ColdPiece piece(*cursor, table.layout_, most);
      const ShardLock lock(rows.mutex());
      for (size_t i = 0; i < piece.keys.size(); ++i) {
        if (rows.is_on_disk_only(piece.keys[i])) append(table.layout_.view(piece.row(i)), out);
      }
      return {};
    }
    if (cursor) RETURN_IF_ERROR(cursor->status());
    cursor.reset();
    phase = memory;
    return {};
  }
};

SparseTable::Export::Export(std::unique_ptr<State> state) : state_(std::move(state)) {}
SparseTable::Export::Export(Export&& other) noexcept = default;
SparseTable::Export::~Export() = default;

Result<bool> SparseTable::Export::next(size_t max_bytes, std::string& out) {
  const size_t before = out.size();
  const size_t enough = before + std::max<size_t>(max_bytes, 1);
  while (state_->shard < state_->table.shards_.size() && out.size() < enough) {
    const Shard& shard = *state_->table.shards_[state_->shard];
    ASSIGN_OR_RETURN(const bool done, state_->advance(shard, enough, out));
    if (!done) break;
    ++state_->shard;
    state_->phase = State::begin;
    state_->at = 0;
  }
  return out.size() > before;
}

SparseTable::Export SparseTable::begin_export(std::optional<uint64_t> changed_since) const {
  return Export(std::make_unique<Export::State>(*this, changed_since));
}

Status SparseTable::import_records(std::string_view records) {
  ASSIGN_OR_RETURN(const size_t count, codec_.count(records));
  std::string aligned;
  if (reinterpret_cast<uintptr_t>(records.data()) % alignof(float) != 0) records = aligned = records;
  std::vector<RowView> rows(count);
  std::vector<uint64_t> keys(count);
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(rows[i], codec_.decode(records.substr(i * codec_.record_bytes(), codec_.record_bytes())));
    keys[i] = rows[i].key;
  }
  return for_blocks_in_use(keys, [&](const Block& block) { return import_block(block, rows); });
}

Status SparseTable::import_block(const Block& block, std::span<const RowView> rows) {
  auto& [shard, probes, slots, cold] = block;
  shard.keep({slots, probes.size()});
  for (const Probe& probe : probes) {
    const RowView& from = rows[probe.position];
    shard.keep_waiting(probe.key);
    uint32_t slot = shard.find(probe.key, probe.hash);
    if (!from.admitted) {
      if (slot != kNoSlot) shard.erase(slot);
      if (keeps_waiting()) shard.waiting()[probe.key] = from.counters;
      continue;
    }
    if (slot == kNoSlot) {
      ASSIGN_OR_RETURN(slot, shard.create(probe.key, probe.hash));
    }
    shard.waiting().erase(probe.key);
    float* const row = shard.row(slot);
    RowLayout::touch(row);
    layout_.set_counters(row, from.counters);
    std::memcpy(layout_.value(row).data(), from.value.data(), from.value.size_bytes());
    std::memcpy(layout_.states(row).data(), from.states.data(), from.states.size_bytes());
  }
  return {};
}

Status SparseTable::set_rows(std::span<const uint64_t> keys, std::span<const float> rows) {
  RETURN_IF_ERROR(check_rows(keys, rows.size()));
  const auto step = static_cast<uint32_t>(steps() + 1);  // later than whatever was exported before
  return for_blocks_in_use(keys, [&](const Block& block) -> Status {
    auto& [shard, probes, slots, cold] = block;
    shard.keep({slots, probes.size()});
    for (const Probe& probe : probes) {
      ASSIGN_OR_RETURN(const uint32_t slot, find_or_create(shard, probe));
      shard.keep_waiting(probe.key);
      shard.waiting().erase(probe.key);
      float* const row = shard.row(slot);
      constexpr uint32_t kStay = RowHeader::kOnDisk | RowHeader::kLeaving | RowHeader::kKept | RowHeader::kCameBack;
      const uint32_t flags = RowLayout::header(row).flags & kStay;
      layout_.reset(row, probe.key);
      RowLayout::header(row).flags = RowLayout::header(row).flags | flags;
      layout_.set_counters(row, {.seen_step = step});
      std::memcpy(layout_.value(row).data(), rows.data() + probe.position * layout_.width(), layout_.width() * sizeof(float));
    }
    return {};
  });
}

Status SparseTable::erase(std::span<const uint64_t> keys) {
  return for_blocks_in_use(keys, [&](const Block& block) -> Status {
    auto& [shard, probes, slots, cold] = block;
    for (const Probe& probe : probes) {
      shard.keep_waiting(probe.key);
      shard.waiting().erase(probe.key);
      if (const uint32_t slot = shard.find(probe.key, probe.hash); slot != kNoSlot) shard.erase(slot);
    }
    return {};
  });
}

// One shrink(): which rows go, and what became of them.
struct SparseTable::Shrinking {
  std::function<bool(RowCounters&)> expired;  // after the counters have decayed
  std::vector<uint64_t>* erased = nullptr;
  ShrinkCounts report = {};

  bool drops(uint64_t key, RowCounters& counters) const {
    if (!expired(counters)) return false;
    if (erased != nullptr) erased->push_back(key);
    return true;
  }

  // What is to be changed of those rows of `piece` that are on disk only.
  void visit(const Shard& shard, const RowLayout& layout, ColdPiece& piece, ColdStore::Batch& batch,
             std::vector<uint64_t>& dropped) {
    for (size_t i = 0; i < piece.keys.size(); ++i) {
      const uint64_t key = piece.keys[i];
      if (!shard.is_on_disk_only(key)) continue;
      RowCounters counters = layout.counters(piece.row(i));
      if (expired(counters)) {
        batch.erase(shard.number(), key);
        dropped.push_back(key);
        continue;
      }
      if (counters != layout.counters(piece.row(i))) {
        layout.set_counters(piece.row(i), counters);
        batch.put(shard.number(), key, piece.row(i), layout.bytes());
      }
      ++report.kept;
    }
  }
};

Result<ShrinkCounts> SparseTable::shrink(const Expiry& expiry, uint32_t now_seconds, std::vector<uint64_t>* erased) {
  if (expiry.score != 0 && !layout_.counts_show_click()) {
    return Status::failed_precondition(
        "table '{}' keeps no shows and clicks, so it cannot drop rows below score {}; enable show_click in its spec", spec_.name,
        expiry.score);
  }
  if (expiry.ttl_seconds != 0 && !layout_.keeps_seconds()) {
    return Status::failed_precondition("table '{}' keeps no times, so it cannot drop rows after {} s; give its spec a TTL",
                                       spec_.name, expiry.ttl_seconds);
  }
  const auto now_step = static_cast<uint32_t>(steps());
  const auto expired = [&](RowCounters& counters) {
    counters.show *= spec_.show_click.decay;
    counters.click *= spec_.show_click.decay;
    // Times that lie ahead, from a clock that was set back, are not old.
    const bool timed_out = now_seconds > counters.seen_seconds && now_seconds - counters.seen_seconds > expiry.ttl_seconds;
    return (expiry.score != 0 && spec_.show_click.score(counters.show, counters.click) < expiry.score) ||
           (expiry.unseen_steps != 0 && later(now_step - expiry.unseen_steps, counters.seen_step)) ||
           (expiry.ttl_seconds != 0 && timed_out);
  };
  Shrinking shrinking{.expired = expired, .erased = erased};
  for (const auto& shard : shards_) {
    ASSIGN_OR_RETURN(const ColdRewrite alone, ColdRewrite::begin(*shard));
    RETURN_IF_ERROR(shrink_cold(*shard, shrinking));
    const ShardLock lock(shard->mutex());
    shrink_rows(*shard, shrinking);
    shrinking.report.dropped_waiting += absl::erase_if(shard->waiting(), [&](auto& entry) {
      shard->keep_waiting(entry.first);
      return shrinking.drops(entry.first, entry.second);
    });
  }
  return shrinking.report;
}

void SparseTable::shrink_rows(Shard& shard, Shrinking& shrinking) {
  for (size_t position = 0; position < shard.positions(); ++position) {
    const uint32_t slot = shard.slot_at(position);
    if (slot == kNoSlot) continue;
    float* const row = shard.row(slot);
    RowCounters counters = layout_.counters(row);
    if (shrinking.drops(layout_.view(row).key, counters)) {
      shard.erase(slot);
      ++shrinking.report.dropped;
      continue;
    }
    if (counters != layout_.counters(row)) {
      shard.keep(slot);
      layout_.set_counters(row, counters);
      RowLayout::header(row).flags = RowLayout::header(row).flags | RowHeader::kChanged;
    }
    ++shrinking.report.kept;
  }
}

// REQUIRES: a ColdRewrite of the shard, so that a row is on disk only, or not, all the time.
Status SparseTable::shrink_cold(Shard& shard, Shrinking& shrinking) {
  {
    const ShardLock lock(shard.mutex());
    if (shard.cold_rows() == 0) return {};
  }
  const auto cursor = shard.cold()->rows(shard.number());
  while (cursor->valid()) {
    ColdPiece piece(*cursor, layout_, kPieceBytes / layout_.bytes() + 1);
    ColdStore::Batch batch;
    std::vector<uint64_t> dropped;
    {
      const ShardLock lock(shard.mutex());
      shrinking.visit(shard, layout_, piece, batch, dropped);
    }
    if (!batch.empty()) RETURN_IF_ERROR(shard.cold()->write(std::move(batch)));
    const ShardLock lock(shard.mutex());
    shard.drop_cold(dropped);
    shrinking.report.dropped += dropped.size();
    if (shrinking.erased != nullptr) shrinking.erased->insert(shrinking.erased->end(), dropped.begin(), dropped.end());
  }
  return cursor->status();
}

Status SparseTable::clear_shard(Shard& shard) {
  ASSIGN_OR_RETURN(const ColdRewrite alone, ColdRewrite::begin(shard));
  if (shard.cold()) {
    ColdStore::Batch batch;
    const auto cursor = shard.cold()->rows(shard.number());
    for (; cursor->valid(); cursor->next()) batch.erase(shard.number(), cursor->key());
    RETURN_IF_ERROR(cursor->status());
    if (!batch.empty()) RETURN_IF_ERROR(shard.cold()->write(std::move(batch)));
  }
  const ShardLock lock(shard.mutex());
  shard.clear();
  return {};
}

Status SparseTable::clear() {
  if (is_cut_) return Status::failed_precondition("table '{}' cannot be emptied while it is written", spec_.name);
  for (const auto& shard : shards_) RETURN_IF_ERROR(clear_shard(*shard));
  changes_.clear();
  MutexLock lock(step_mutex_);
  steps_ = 0;
  if (rule_) scalars_ = rule_->initial_scalars();
  return {};
}

TableSize SparseTable::size() const {
  TableSize size;
  for (const auto& shard : shards_) {
    const TableSize one = shard->size();
    size.rows += one.rows;
    size.waiting += one.waiting;
    size.cold_rows += one.cold_rows;
    size.memory_bytes += one.memory_bytes;
  }
  return size;
}

std::vector<float> SparseTable::sample_norms(size_t most) const {
  const size_t share = std::max<size_t>(most / shards_.size(), 1);
  std::vector<float> norms;
  for (const auto& shard : shards_) {
    std::lock_guard lock(shard->mutex());
    const size_t positions = shard->used_positions(), step = std::max<size_t>(positions / share, 1);
    for (size_t position = 0; position < positions; position += step) {
      const uint32_t slot = shard->slot_at(position);
      if (slot == kNoSlot) continue;
      double squares = 0;
      for (const float value : layout_.value(std::as_const(*shard).row(slot))) squares += static_cast<double>(value) * value;
      norms.push_back(static_cast<float>(std::sqrt(squares)));
    }
  }
  return norms;
}

}  // namespace argosy::table
