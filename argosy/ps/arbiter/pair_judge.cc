#include "argosy/ps/arbiter/pair_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace argosy::ps {
namespace {

using Replica = wire::ReplicaStatus;

constexpr double kSilentSeconds = 2;   // a process that answers nothing
constexpr double kForgottenSeconds = 30;  // a launcher would have started it again
constexpr double kDeafSeconds = 5;     // a follower that answers the arbiter, and asks its primary for nothing

bool seat_answers(const SeatView& seat) { return seat.said && !seat.dead && seat.silent_seconds < kSilentSeconds; }
bool seat_is(const SeatView& seat, Replica::Role role) { return seat_answers(seat) && seat.said->role() == role; }
bool is_restarted(const SeatView& seat) { return seat_is(seat, Replica::WAITING); }
bool is_lost(const SeatView& seat) {
  return seat.dead || seat.gone || seat.silent_seconds >= kSilentSeconds || is_restarted(seat);
}

// The epoch of which it has all that was acknowledged; 0: of none.
uint64_t has_all_of(const SeatView& seat) {
  if (!seat_answers(seat)) return 0;
  const bool primary = seat.said->role() == Replica::PRIMARY || seat.said->kept() == Replica::PRIMARY;
  return primary || seat.said->whole() ? seat.said->epoch() : 0;
}

// Of two that have the same, the one that needs no recovery.
int rank(const SeatView& seat) {
  if (seat_is(seat, Replica::WAITING)) return seat.said->kept() == Replica::PRIMARY ? 1 : 0;
  return 2;
}

std::string what_happened(const SeatView& seat) {
  if (is_restarted(seat)) return fmt::format("the process at {} was started again", seat.endpoint);
  if (seat.dead || seat.gone) return fmt::format("the process at {} has died", seat.endpoint);
  return fmt::format("the process at {} has not answered for {:.1f} s", seat.endpoint, seat.silent_seconds);
}

// It has no role, or looks for the primary that it is to follow.
bool follows_nobody_yet(const SeatView& seat) {
  return is_restarted(seat) || (seat_is(seat, Replica::FOLLOWER) && seat.said->getting_ready());
}

}  // namespace

std::optional<RoleDecision> PairJudge::decide(const Seats& seats) {
  look(seats);
  if (auto again = settle_pending(seats)) return again;
  const bool led = primary_ >= 0 && !is_lost(seats[static_cast<size_t>(primary_)]);
  if (auto late = led ? of_earlier_epochs(seats) : std::nullopt) return late;
  return primary_ < 0 ? begin(seats) : with_primary(seats);
}

void PairJudge::look(const Seats& seats) {
  for (int i = 0; i < 2; ++i) {
    const SeatView& seat = seats[static_cast<size_t>(i)];
    if (!seat_answers(seat)) continue;
    epoch_ = std::max(epoch_, seat.said->epoch());
    if (seat.said->role() != Replica::PRIMARY || seat.said->getting_ready()) continue;
    confirmed_ = std::max(confirmed_, seat.said->epoch());
    if (seat.said->epoch() != epoch_) continue;
    primary_ = i;
    if (pending_ && pending_->role.epoch() == epoch_) pending_.reset();
  }
}

// Who was told may have done it although it did not say so. It is told again, the same; where it has died, what it has left
// decides.
std::optional<RoleDecision> PairJudge::settle_pending(const Seats& seats) {
  if (!pending_) return std::nullopt;
  const SeatView& told = seats[static_cast<size_t>(pending_->seat)];
  const bool waited = told.said && told.said->role() == Replica::WAITING;  // it was at the beginning, and not started again
  if (!is_lost(told) || (seat_answers(told) && waited && pending_->role.role() == Replica::PRIMARY && primary_ < 0))
    return pending_;
  pending_.reset();
  primary_ = -1;
  return std::nullopt;
}

std::optional<RoleDecision> PairJudge::of_earlier_epochs(const Seats& seats) const {
  if (primary_ < 0 || confirmed_ != epoch_) return std::nullopt;
  const SeatView& other = seats[static_cast<size_t>(1 - primary_)];
  if (!seat_answers(other) || other.said->role() == Replica::WAITING || other.said->epoch() == 0 || other.said->epoch() >= epoch_)
    return std::nullopt;
  RoleDecision decision{.seat = 1 - primary_, .role = {}, .why = fmt::format("it is of epoch {}", other.said->epoch())};
  decision.role.set_role(Replica::FOLLOWER);
  decision.role.set_epoch(epoch_);
  decision.role.set_peer(seats[static_cast<size_t>(primary_)].endpoint);
  return decision;
}

std::optional<RoleDecision> PairJudge::lead(int seat, bool may_run, std::string why) {
  RoleDecision decision{.seat = seat, .role = {}, .why = std::move(why)};
  decision.role.set_role(Replica::PRIMARY);
  decision.role.set_epoch(++epoch_);
  decision.role.set_may_run(may_run);
  pending_ = decision;
  drawn_for_ = seat;
  return decision;
}

// Who was told a new epoch may have begun it and acknowledged something in it, whether or not it was seen to. Only its own
// directory can say that it has not.
bool PairJudge::has_all(const Seats& seats, int seat) const {
  const uint64_t epoch = has_all_of(seats[static_cast<size_t>(seat)]);
  return epoch != 0 && (epoch >= epoch_ || (seat == drawn_for_ && epoch >= confirmed_));
}

// Somebody who has seen nothing of this pair yet decides nothing before both have answered: one of them may have gone on alone.
std::optional<RoleDecision> PairJudge::begin(const Seats& seats) {
  const bool all_answer = std::ranges::all_of(seats, [](const SeatView& seat) { return seat_answers(seat) || seat.gone; });
  if (confirmed_ == 0 && !all_answer) return give_up(seats);
  const auto worth = [&](int i) {
    const SeatView& seat = seats[static_cast<size_t>(i)];
    return std::tuple(has_all(seats, i), has_all_of(seat), rank(seat));
  };
  const int best = worth(1) > worth(0) && seat_answers(seats[1]) ? 1 : 0;
  const SeatView& chosen = seats[static_cast<size_t>(best)];
  const SeatView& other = seats[static_cast<size_t>(1 - best)];
  if (!seat_answers(chosen)) return give_up(seats);
  const bool empty = epoch_ == 0;
  began_empty_ = began_empty_ || empty;
  if (!empty && !has_all(seats, best)) return give_up(seats);
  const bool may_run = seat_is(chosen, Replica::FOLLOWER) && !other.dead && !other.gone && !is_restarted(other) && !empty;
  return lead(best, may_run, empty ? "the job begins" : fmt::format("it has all of epoch {}", has_all_of(chosen)));
}

std::optional<RoleDecision> PairJudge::with_primary(const Seats& seats) {
  const SeatView& primary = seats[static_cast<size_t>(primary_)];
  if (!is_lost(primary)) return without_follower(seats);
  const SeatView& other = seats[static_cast<size_t>(1 - primary_)];
  if (seat_is(other, Replica::FOLLOWER) && other.said->whole() && other.said->epoch() == epoch_)
    return lead(1 - primary_, !primary.dead && !primary.gone && !is_restarted(primary), what_happened(primary));
  if (!is_restarted(primary) && !primary.gone && !primary.dead)
    return std::nullopt;  // it may come back, and alone has everything
  primary_ = -1;
  return begin(seats);
}

// The primary is there.
std::optional<RoleDecision> PairJudge::without_follower(const Seats& seats) {
  const SeatView& primary = seats[static_cast<size_t>(primary_)];
  const SeatView& other = seats[static_cast<size_t>(1 - primary_)];
  const bool deaf = primary.said->silent_seconds() >= kDeafSeconds;
  if (primary.said->whole() && (is_lost(other) || deaf)) {
    return lead(primary_, false,
                is_lost(other) ? what_happened(other)
                               : fmt::format("the process at {} has not asked for changes for {:.1f} s", other.endpoint,
                                             primary.said->silent_seconds()));
  }
  if (!is_restarted(other) || primary.said->whole()) return std::nullopt;
  RoleDecision decision{.seat = 1 - primary_, .role = {}, .why = fmt::format("the process at {} is alone", primary.endpoint)};
  decision.role.set_role(Replica::FOLLOWER);
  decision.role.set_epoch(epoch_);
  decision.role.set_peer(primary.endpoint);
  return decision;
}

// Where one of them will come yet, it is waited for.
std::optional<RoleDecision> PairJudge::give_up(const Seats& seats) {
  const auto may_lead = [&](int i) {
    const SeatView& seat = seats[static_cast<size_t>(i)];
    return !seat.gone && (!seat_answers(seat) || epoch_ == 0 || has_all(seats, i));
  };
  if (may_lead(0) || may_lead(1) || !lost_.ok()) return std::nullopt;
  const auto describe = [&](const SeatView& seat) {
    if (seat.gone) return fmt::format("the process at {} has ended for good", seat.endpoint);
    const std::string has = seat.said->epoch() == 0
                                ? "nothing"
                                : fmt::format("{} of epoch {}", has_all_of(seat) == 0 ? "a part" : "all", seat.said->epoch());
    return fmt::format("the process at {} has {}", seat.endpoint, has);
  };
  if (began_empty_ && confirmed_ == 0) {
    lost_ =
        Status::failed_precondition("neither process could begin, and nothing was acknowledged: {}, and {}. Their logs say why",
                                    describe(seats[0]), describe(seats[1]));
    return std::nullopt;
  }
  lost_ = Status::data_loss("what was acknowledged in epoch {} is lost: {}, and {}", std::max(confirmed_, epoch_),
                            describe(seats[0]), describe(seats[1]));
  return std::nullopt;
}

bool PairJudge::may_come_back(const SeatView& seat) const {
  const bool forgotten = seat.gone || seat.dead || seat.silent_seconds >= kForgottenSeconds;
  if (forgotten || !seat.said || seat.said->role() == Replica::ENDED) return false;
  return seat.said->role() == Replica::WAITING || follows_nobody_yet(seat) ||
         (seat.said->epoch() != 0 && seat.said->epoch() < epoch_);
}

std::optional<RoleDecision> PairJudge::conclude(const Seats& seats) const {
  for (int i = 0; i < 2; ++i) {
    const SeatView& seat = seats[static_cast<size_t>(i)];
    if (!seat_answers(seat) || !may_come_back(seat)) continue;
    RoleDecision decision{.seat = i, .role = {}, .why = "the job has ended"};
    decision.role.set_epoch(std::max<uint64_t>(epoch_, 1));
    decision.role.set_role(follows_nobody_yet(seat) ? Replica::ENDED : Replica::FOLLOWER);  // which makes it end and start again
    decision.role.set_peer(seats[static_cast<size_t>(1 - i)].endpoint);
    return decision;
  }
  return std::nullopt;
}

}  // namespace argosy::ps
