#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "argosy/ps/state/membership.h"
#include "argosy/ps/state/state_merge.h"

namespace argosy::ps {

// The steps of a sync job on one server: what has been pushed for which step, who has left which round, and when a step may be
// applied. A step is *complete* when every awaited worker has pushed it or left the round; it may be *committed* when,
// besides, each pusher has confirmed that all servers have its push (messages.proto says how and why). Rounds end when all
// awaited workers have left them.
//
// Thread-compatible: the caller serialises all calls.
class SyncSteps {
 public:
  SyncSteps(const Tables& tables, const Membership& members);

  Position position() const { return position_; }
  // The first step of `round`, from the position on, that the worker has not pushed.
  uint32_t next_step(int worker, uint32_t round) const;

  // ---- Records.

  // False: the step is over; the push is dropped. REQUIRES: the worker has not pushed this step.
  bool hold(Position step, Contribution contribution);
  void leave(int worker, uint32_t round, uint32_t steps);
  // The worker is lost. What it has pushed stays; where there are several servers, it may be unsettled().
  void lose(int worker);
  // Drops what a lost worker has pushed for a step; false: there is nothing.
  bool drop(int worker, Position step);
  // It; an empty one: there is nothing.
  wire::PushRequest held_push(uint32_t worker, Position step) const;
  // Takes the step's mean gradient, clipped, and moves the position behind it. REQUIRES: complete().
  std::unique_ptr<MergedStep> commit(std::span<const float> factors);
  // Ends rounds that everybody has left. Call it after every record that can change that.
  void end_rounds();
  // After a restart that lost steps: where everybody who is awaited has pushed a later step, goes on there. Returns whether.
  bool skip_lost_steps();

  // ---- The running process.

  // The worker has confirmed every step below `position`.
  void confirm(int worker, Position position);
  // Whether `position` would be news.
  bool is_confirmed(int worker, Position position) const { return confirmed_[static_cast<size_t>(worker)] >= position; }

  // What lost workers have pushed here and never confirmed: other servers may not have it, or may have applied it. Such a step is
  // not committed before all servers have settled it in the same way (messages.proto: UnsettledLoss).
  std::vector<const Contribution*> unsettled() const;

  bool complete() const;
  bool may_commit() const;  // complete, and confirmed where there are several servers

  // Sums of squares by group: of the current step, once it is complete; of the last applied one; nothing for others.
  std::optional<std::vector<double>> norms(Position step);

  // The awaited workers that keep the current step from being committed.
  std::vector<int> missing() const;

  // ---- For snapshots.
  struct Saved {
    Position position;
    Position last_step;  // that last_norms are of
    std::vector<double> last_norms;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> left;  // (worker, round) -> steps
  };
  Saved save() const;
  void restore(const Saved& saved);
  const std::map<Position, std::map<uint32_t, Contribution>>& held() const { return held_; }

 private:
  bool has_left(int worker, Position step) const;
  bool is_unsettled(uint32_t worker, Position step) const;
  std::vector<const Contribution*> contributions() const;
  MergedStep& merged();

  const Tables& tables_;
  const Membership& members_;
  Position position_;
  std::map<Position, std::map<uint32_t, Contribution>> held_;  // by step, then worker; none before position_
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> left_;     // (worker, round) -> steps pushed; no round before position_'s
  std::vector<Position> confirmed_;                            // by worker
  std::unique_ptr<MergedStep> merged_;                         // of the current step, once somebody asked
  Position last_step_;
  std::vector<double> last_norms_;  // of last_step_; empty: none was applied
};

}  // namespace argosy::ps
