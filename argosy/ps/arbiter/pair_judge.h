#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "argosy/base/status.h"
#include "argosy/ps/spec/messages.pb.h"

namespace argosy::ps {

// One of a server's two processes, as the arbiter sees it at a moment.
struct SeatView {
  std::string endpoint;
  // What it said last; nothing: it has not answered since it was started.
  std::optional<wire::ReplicaStatus> said = {};
  double silent_seconds = 0;  // since it answered last, or since it was first asked
  bool dead = false;          // the process that answered last has ended for certain, and no other one has answered
  bool gone = false;          // dead, and nobody starts another one
};

// What one of them is to be told, and why.
struct RoleDecision {
  int seat = 0;
  wire::TakeRoleRequest role;
  std::string why;  // for people: "the process at 10.0.0.5:6170 has died"
};

// Decides which of a server's two processes is the primary (replicas=1). It alone draws epochs, and never one twice: in an epoch
// one process is the primary, and the other one may take over only if it has all that was acknowledged in that epoch.
//
//   the primary has died or is silent, its follower is whole      the follower becomes the primary of the next epoch, alone
//   the follower has died or is silent, the primary is whole      the primary goes on in the next epoch, alone
//   the primary is alone, another process waits for a role        that one becomes its follower
//   nobody is the primary, both have answered                     who has all of the latest epoch becomes it; two empty ones: the
//   first a primary or follower of an earlier epoch                     is told so, and ends
//
// Thread-compatible.
class PairJudge {
 public:
  // What is to be done next; nothing: all is as it should be, or somebody is waited for. What was decided before and has not been
  // seen to be done is decided again, the same.
  std::optional<RoleDecision> decide(const std::array<SeatView, 2>& seats);

  // The same once the job has ended: processes that were started again, or are of an earlier epoch and will be, are to end with
  // it.
  std::optional<RoleDecision> conclude(const std::array<SeatView, 2>& seats) const;
  // Then: whether this one would wait for a role that nobody gives any more. Those that ended with the job cannot be told from
  // those that do not answer; this looks at what they said last.
  bool may_come_back(const SeatView& seat) const;

  uint64_t epoch() const { return epoch_; }
  int primary() const { return primary_; }  // which of the two; -1: none at the moment
  bool has_led() const { return confirmed_ != 0; }  // one of them was seen as the primary
  // data_loss where nothing can be decided any more: what can no longer be had. failed_precondition: there never was anything.
  const Status& lost() const { return lost_; }

 private:
  using Seats = std::array<SeatView, 2>;
  void look(const Seats& seats);
  std::optional<RoleDecision> settle_pending(const Seats& seats);
  std::optional<RoleDecision> begin(const Seats& seats);
  std::optional<RoleDecision> with_primary(const Seats& seats);
  std::optional<RoleDecision> without_follower(const Seats& seats);
  std::optional<RoleDecision> of_earlier_epochs(const Seats& seats) const;
  std::optional<RoleDecision> lead(int seat, bool may_run, std::string why);
  std::optional<RoleDecision> give_up(const Seats& seats);
  bool has_all(const Seats& seats, int seat) const;

  uint64_t epoch_ = 0;  // the latest that was drawn or met
  uint64_t confirmed_ = 0;  // the latest in which a primary was seen
  int primary_ = -1;
  bool began_empty_ = false;  // when the first epoch was drawn, neither had anything
  int drawn_for_ = -1;  // who was told the latest epoch that was drawn
  std::optional<RoleDecision> pending_;  // a new epoch that nobody was seen in yet
  Status lost_;
};

}  // namespace argosy::ps
