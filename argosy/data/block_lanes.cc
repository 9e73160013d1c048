#include "argosy/data/block_lanes.h"

#include <algorithm>
#include <cstring>

#include "argosy/base/mutex.h"
#include "argosy/base/plant.h"

namespace argosy::data {

BlockLanes::BlockLanes(size_t lanes, size_t depth, std::function<void()> silence, double patience_seconds)
    : depth_(std::max<size_t>(depth, 1)), silence_(std::move(silence)), patience_(patience_seconds), lanes_(lanes) {}

bool BlockLanes::push(size_t lane, std::shared_ptr<const TextBlock> block) {
  Lock lock(mutex_);
  auto& blocks = lanes_[lane].blocks;
  while (!closed_ && blocks.size() >= depth_) room_.wait_for(lock, patience_);
  if (closed_) return false;
  blocks.push_back(std::move(block));
  lock.unlock();
  changed_.notify_all();
  return true;
}

void BlockLanes::end(size_t lane) {
  {
    MutexLock lock(mutex_);
    lanes_[lane].ended = true;
  }
  changed_.notify_all();
}

bool BlockLanes::wait_for_demand(size_t lane) {
  Lock lock(mutex_);
  const auto wanted = [&]() ARGOSY_REQUIRES(mutex_) {
    return taking_ && current_lines_ == 0 && in_turn() && turn_ == lane && lanes_[lane].blocks.empty();
  };
  while (!closed_ && !wanted()) changed_.wait_for(lock, patience_);
  return !closed_;
}

void BlockLanes::close() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  room_.notify_all();
}

void BlockLanes::wait(Lock& lock, const std::function<bool()>& ready) {
  while (!changed_.wait_for(lock, patience_, ready)) {
    lock.unlock();
    silence_();
    lock.lock();
  }
}

bool BlockLanes::in_turn() {
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const Lane& lane = lanes_[turn_];
    if (!lane.blocks.empty() || (!lane.ended && !ARGOSY_PLANTED("lanes_by_speed"))) return true;
    turn_ = (turn_ + 1) % lanes_.size();
  }
  return false;
}

bool BlockLanes::begin_take(Lock& lock) {
  wait(lock, [this]() ARGOSY_REQUIRES(mutex_) { return closed_ || !taking_; });
  if (closed_) return false;
  taking_ = true;
  return true;
}

bool BlockLanes::make_current(Lock& lock) {
  if (current_lines_ > 0) return true;
  changed_.notify_all();  // who waits for demand
  wait(lock, [this]() ARGOSY_REQUIRES(mutex_) { return closed_ || !in_turn() || !lanes_[turn_].blocks.empty(); });
  if (closed_ || !in_turn()) return false;
  Lane& lane = lanes_[turn_];
  std::shared_ptr<const TextBlock> block = std::move(lane.blocks.front());
  lane.blocks.pop_front();
  turn_ = (turn_ + 1) % lanes_.size();
  room_.notify_all();
  current_lines_ = block->lines;
  current_ = {.block = nullptr, .at = block->at, .end = block->size, .line = block->line, .lines = block->lines};
  current_.block = std::move(block);
  return true;
}

TextPiece BlockLanes::cut(int64_t lines) {
  TextPiece piece = current_;
  piece.lines = std::min(lines, current_lines_);
  current_lines_ -= piece.lines;
  if (current_lines_ == 0) {
    current_ = {};
    return piece;
  }
  for (int64_t i = 0; i < lines && current_.block->rows == nullptr; ++i) {
    const void* newline = std::memchr(current_.begin(), '\n', current_.end - current_.at);
    current_.at = static_cast<size_t>(static_cast<const char*>(newline) - current_.block->text.data()) + 1;
  }
  if (current_.block->rows != nullptr) current_.at += static_cast<size_t>(lines);
  current_.line += lines;
  piece.end = current_.at;
  return piece;
}

QueueState BlockLanes::take(int64_t lines, std::vector<TextPiece>& pieces, uint64_t& number) {
  pieces.clear();
  Lock lock(mutex_);
  if (!begin_take(lock)) return QueueState::closed;
  while (lines > 0 && make_current(lock)) {
    pieces.push_back(cut(lines));
    lines -= pieces.back().lines;
  }
  if (!pieces.empty()) number = next_number_++;
  taking_ = false;
  lock.unlock();
  changed_.notify_all();
  return pieces.empty() ? QueueState::closed : QueueState::ok;
}

QueueState BlockLanes::take_block(TextPiece& piece) {
  piece = {};
  Lock lock(mutex_);
  if (!begin_take(lock)) return QueueState::closed;
  const bool more = make_current(lock);
  if (more) piece = cut(current_lines_);
  taking_ = false;
  lock.unlock();
  changed_.notify_all();
  return more ? QueueState::ok : QueueState::closed;
}

}  // namespace argosy::data
