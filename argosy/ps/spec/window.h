#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "argosy/ps/spec/job_spec.h"

namespace argosy::ps {

// Which batches of one worker a server has. Batches arrive in any order within a round, and rounds in order: a worker that sends
// a batch of a round has nothing more to send of the rounds before. So a round number, the length of the unbroken run from index
// 0 and the few indices above it say everything.
//
// Thread-compatible.
class Window {
 public:
  Window() = default;
  // From a peer or a file: `above` in any order, entries below `through` are dropped.
  Window(uint32_t round, uint32_t through, std::span<const uint32_t> above);

  enum class Match { none, all, some };

  bool contains(uint64_t batch) const;
  // How many of the batches are here; without batches: none.
  Match match(std::span<const uint64_t> batches) const;

  // Batches that are here already stay so. REQUIRES: the batches are of one round.
  void add(std::span<const uint64_t> batches);

  // Batches of the current round that are no longer here. Those of earlier rounds stay, because a round counts as a whole.
  void remove(std::span<const uint64_t> batches);

  // The worker has no more data in `round`: everything of it, and of the rounds before, counts as here.
  void leave(uint32_t round);

  // The batches of `other` that are not here. Of rounds that `other` has left and this window has not, whose sizes nobody knows,
  // those that are here do not count; `whole_rounds` says whether there are such.
  std::vector<uint64_t> lacks(const Window& other, bool& whole_rounds) const;
  // How many they are, without a list: a peer may claim billions.
  uint64_t count_lacking(const Window& other, bool& whole_rounds) const;

  uint32_t round() const { return round_; }
  uint32_t through() const { return through_; }
  const std::set<uint32_t>& above() const { return above_; }

  friend bool operator==(const Window&, const Window&) = default;

 private:
  void extend_run();

  uint32_t round_ = 0;
  uint32_t through_ = 0;
  std::set<uint32_t> above_;  // each greater than through_
};

}  // namespace argosy::ps
