#pragma once

#include <set>
#include <string>

namespace argosy::launch {

// The ranks of a round that go on where some of them are lost (on_rank_loss=survive), as the meeting place knows them. A rank is
// ready once it has the model: then it can lend it to one that was started again in the place of a lost one. Each loss begins a
// generation, in which all ranks meet at one that is ready. A plain value.
class Survival {
 public:
  explicit Survival(int ranks) : ranks_(ranks) {}

  void ready(int rank) {
    if (is_rank(rank)) ready_.insert(rank);
    whole_ = whole_ || static_cast<int>(ready_.size()) == ranks_;
  }

  // Whether the others can go on without `rank`, which has failed: all have been ready once, one of them still is, and not all
  // have finished.
  bool lose(int rank) {
    ready_.erase(rank);
    return whole_ && is_rank(rank) && !ready_.empty() && !over();
  }
  // Why they cannot, where that is worth a word: they had been ready.
  std::string why_not() const { return whole_ && ready_.empty() ? "no rank is left that has the model" : ""; }

  // The next generation. REQUIRES: lose() was true.
  int begin_generation() {
    finished_.clear();
    return ++generation_;
  }
  int generation() const { return generation_; }
  int host() const { return *ready_.begin(); }  // the rank at which it meets. REQUIRES: one is ready

  // A rank has taken its last step. Whether now all have, which is told once.
  bool finish(int rank, int generation) {
    if (over() || !is_rank(rank) || generation != generation_) return false;
    finished_.insert(rank);
    return over();
  }

 private:
  bool is_rank(int rank) const { return rank >= 0 && rank < ranks_; }
  bool over() const { return static_cast<int>(finished_.size()) == ranks_; }

  int ranks_, generation_ = 1;
  bool whole_ = false;
  std::set<int> ready_, finished_;
};

}  // namespace argosy::launch
