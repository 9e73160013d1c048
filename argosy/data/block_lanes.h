#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/queue.h"
#include "argosy/data/text_block.h"

namespace argosy::data {

// Some lines (or rows) of a block, shared with the parsers of its other lines. Thread-compatible.
struct TextPiece {
  std::shared_ptr<const TextBlock> block;
  size_t at = 0, end = 0;  // the next line to parse, and where the piece ends
  int64_t line = 0;        // its number in the file, from 1
  int64_t lines = 0;       // in the whole piece

  const char* begin() const { return block->text.data() + at; }
  bool done() const { return at >= end; }
};

// Blocks on their way from several readers, one lane each, to those who parse them. They leave in an order that the data alone
// decides, however fast anybody is: one block of each lane in turn, passing over lanes that have ended.
//
// Thread-safe. Waits end by close().
class BlockLanes {
 public:
  static constexpr double kPatienceSeconds = 60;

  // `silence` is called where a consumer has waited for a block for so long, and again after as long.
  BlockLanes(size_t lanes, size_t depth, std::function<void()> silence, double patience_seconds = kPatienceSeconds);

  // Waits while the lane is full. False: closed, and the block was not taken.
  bool push(size_t lane, std::shared_ptr<const TextBlock> block);
  void end(size_t lane);  // no more will be pushed there
  // Until everything that was pushed to the lane has been taken, and somebody wants more of it. False: closed.
  bool wait_for_demand(size_t lane);

  // Gives the next `lines` lines, of one block or of several, and in `number` how many times that was done before: what is given
  // is a function of the number. Fewer lines come at the end of the data only; none: `closed`.
  QueueState take(int64_t lines, std::vector<TextPiece>& pieces, uint64_t& number);
  // What is left of a block, or the next one.
  QueueState take_block(TextPiece& piece);

  void close();

 private:
  struct Lane {
    std::deque<std::shared_ptr<const TextBlock>> blocks;
    bool ended = false;
  };
  using Lock = MutexLock;

  // `lock` holds mutex_, but while silence_ is called.
  void wait(Lock& lock, const std::function<bool()>& ready) ARGOSY_REQUIRES(mutex_) ARGOSY_UNCHECKED_LOCKING;
  bool begin_take(Lock& lock) ARGOSY_REQUIRES(mutex_);  // false: closed
  bool make_current(Lock& lock) ARGOSY_REQUIRES(mutex_);  // false: no more blocks, or closed
  bool in_turn()
      ARGOSY_REQUIRES(mutex_);  // moves turn_ to a lane that has a block, or where it waits for one; false: all have ended
  TextPiece cut(int64_t lines) ARGOSY_REQUIRES(mutex_);  // REQUIRES: current_ has lines left

  const size_t depth_;
  const std::function<void()> silence_;
  const std::chrono::duration<double> patience_;
  Mutex mutex_;
  ConditionVariable changed_;  // for consumers
  ConditionVariable room_;  // for readers
  std::vector<Lane> lanes_ ARGOSY_GUARDED_BY(mutex_);
  size_t turn_ ARGOSY_GUARDED_BY(mutex_) = 0;  // whose block comes next
  TextPiece current_ ARGOSY_GUARDED_BY(mutex_);  // what is left of the block that is being taken
  int64_t current_lines_ ARGOSY_GUARDED_BY(mutex_) = 0;
  uint64_t next_number_ ARGOSY_GUARDED_BY(mutex_) = 0;
  bool taking_ ARGOSY_GUARDED_BY(mutex_) = false;  // one consumer at a time takes, also while it waits for a block
  bool closed_ ARGOSY_GUARDED_BY(mutex_) = false;
};

}  // namespace argosy::data
