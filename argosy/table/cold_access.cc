#include "argosy/table/cold_access.h"

#include <cstring>

namespace argosy::table {
namespace {

constexpr double kTurnSeconds = 600;
constexpr int kFreeReads = 2;  // that rows may move under, before one is made during which none does

// Notes the keys of probes without a slot that can be on disk. Whether there are any.
bool list_missing(const Shard& shard, std::span<const Probe> probes, const uint32_t* slots, ColdRows& cold) {
  cold.clear(probes.size());
  if (shard.cold_rows() == 0) return false;
  for (size_t i = 0; i < probes.size(); ++i) {
    if (slots[i] == kNoSlot && !shard.is_obsolete(probes[i].key)) cold.want(i, probes[i].key);
  }
  return cold.wants_any();
}

}  // namespace

Status find_rows(Shard& shard, ShardLock& lock, std::span<const Probe> probes, uint32_t* slots, const ColdAccess& access,
                 ColdRows& cold) {
  shard.find(probes, slots);
  cold.clear(0);
  if (shard.cold() == nullptr) return {};
  ColdTurn::Holder turn;
  for (int reads = 0; list_missing(shard, probes, slots, cold);) {
    const uint64_t moves = shard.moves();
    const bool alone = reads == kFreeReads || shard.is_rewritten();
    const std::shared_ptr<ColdStore> store = shard.cold();
    lock.unlock();
    if (alone && turn == nullptr) {
      Result<ColdTurn::Holder> taken = take_cold_turn(shard);
      lock.lock();
      if (!taken.ok()) return taken.status();
      turn = std::move(*taken);
      shard.find(probes, slots);
      continue;
    }
    const Status read = cold.read(*store, shard.number(), shard.row_bytes());
    lock.lock();
    RETURN_IF_ERROR(read);
    ++reads;
    shard.find(probes, slots);
    // Nothing that was on disk only is another row now, and nothing has left memory: what was read is what is there.
    if (turn != nullptr || (shard.moves() == moves && !shard.is_rewritten())) break;
  }
  if (!access.leaves()) return shard.bring_back(probes, slots, cold);
  shard.leave_on_disk(probes, slots, cold);
  return {};
}

Result<ColdTurn::Holder> take_cold_turn(Shard& shard) {
  if (auto turn = shard.turn().take(Deadline::after_seconds(kTurnSeconds))) return turn;
  return Status::unavailable(
      "timed out after {} s waiting for another call that moves rows beyond the memory limit to or from disk; see whether the "
      "disk of the server's directory answers",
      kTurnSeconds);
}

Result<ColdRewrite> ColdRewrite::begin(Shard& shard) {
  ASSIGN_OR_RETURN(ColdTurn::Holder turn, take_cold_turn(shard));
  return ColdRewrite(shard, std::move(turn));
}

ColdRewrite::ColdRewrite(Shard& shard, ColdTurn::Holder turn) : shard_(shard), turn_(std::move(turn)) {
  const ShardLock lock(shard_.mutex());
  shard_.begin_rewrite();
}

ColdRewrite::~ColdRewrite() {
  if (turn_ == nullptr) return;
  const ShardLock lock(shard_.mutex());
  shard_.end_rewrite();
}

ColdPiece::ColdPiece(ColdStore::Cursor& cursor, const RowLayout& layout, size_t most) : words_(layout.words()) {
  for (; cursor.valid() && keys.size() < most; cursor.next()) {
    keys.push_back(cursor.key());
    rows.resize(keys.size() * words_);
    std::memcpy(row(keys.size() - 1), cursor.row(), layout.bytes());
  }
}

}  // namespace argosy::table
