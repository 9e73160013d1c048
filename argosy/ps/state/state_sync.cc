#include "argosy/ps/state/state_sync.h"

#include <algorithm>

#include "argosy/base/plant.h"

namespace argosy::ps {

SyncSteps::SyncSteps(const Tables& tables, const Membership& members)
    : tables_(tables), members_(members), confirmed_(static_cast<size_t>(members.workers())) {}

bool SyncSteps::hold(Position step, Contribution contribution) {
  if (step < position_) return false;
  const uint32_t worker = contribution.worker;
  held_[step].insert_or_assign(worker, std::move(contribution));
  merged_.reset();
  confirm(static_cast<int>(worker), step);
  return true;
}

void SyncSteps::leave(int worker, uint32_t round, uint32_t steps) {
  if (round >= position_.round) left_[{static_cast<uint32_t>(worker), round}] = steps;
  confirm(worker, {round + 1, 0});
}

bool SyncSteps::drop(int worker, Position step) {
  const auto held = held_.find(step);
  if (held == held_.end() || held->second.erase(static_cast<uint32_t>(worker)) == 0) return false;
  if (held->second.empty()) held_.erase(held);
  merged_.reset();
  return true;
}

wire::PushRequest SyncSteps::held_push(uint32_t worker, Position step) const {
  wire::PushRequest push;
  const auto held = held_.find(step);
  if (held == held_.end()) return push;
  const auto contribution = held->second.find(worker);
  if (contribution == held->second.end() || !push.ParseFromString(contribution->second.record)) return {};
  return push;
}

bool SyncSteps::is_unsettled(uint32_t worker, Position step) const {
  return tables_.servers() > 1 && confirmed_[worker] <= step && members_.is_lost(static_cast<int>(worker));
}

std::vector<const Contribution*> SyncSteps::unsettled() const {
  std::vector<const Contribution*> all;
  for (const auto& [step, contributions] : held_) {
    for (const auto& [worker, contribution] : contributions) {
      if (is_unsettled(worker, step)) all.push_back(&contribution);
    }
  }
  return all;
}

void SyncSteps::lose(int worker) {
  std::erase_if(left_, [worker](const auto& entry) { return entry.first.first == static_cast<uint32_t>(worker); });
  merged_.reset();
}

uint32_t SyncSteps::next_step(int worker, uint32_t round) const {
  Position next{round, round == position_.round ? position_.step : 0};
  const auto pushed = [&] {
    const auto held = held_.find(next);
    return held != held_.end() && held->second.contains(static_cast<uint32_t>(worker));
  };
  while (pushed()) next.step += 1;
  return next.step;
}

void SyncSteps::confirm(int worker, Position position) {
  Position& known = confirmed_[static_cast<size_t>(worker)];
  known = std::max(known, position);
}

bool SyncSteps::has_left(int worker, Position step) const {
  const auto left = left_.find({static_cast<uint32_t>(worker), step.round});
  return left != left_.end() && left->second <= step.step;
}

std::vector<const Contribution*> SyncSteps::contributions() const {
  std::vector<const Contribution*> all;
  if (const auto here = held_.find(position_); here != held_.end()) {
    for (const auto& [worker, contribution] : here->second) all.push_back(&contribution);
  }
  return all;
}

bool SyncSteps::complete() const {
  const auto here = held_.find(position_);
  if (here == held_.end()) return false;
  for (int worker = 0; worker < members_.workers(); ++worker) {
    const bool pushed = here->second.contains(static_cast<uint32_t>(worker));
    if (!pushed && members_.is_awaited(worker) && !has_left(worker, position_) && !ARGOSY_PLANTED("step_without_all"))
      return false;
  }
  return true;
}

bool SyncSteps::may_commit() const { return complete() && missing().empty(); }

std::vector<int> SyncSteps::missing() const {
  std::vector<int> workers;
  const auto here = held_.find(position_);
  for (int worker = 0; worker < members_.workers(); ++worker) {
    const bool pushed = here != held_.end() && here->second.contains(static_cast<uint32_t>(worker));
    if (!members_.is_awaited(worker)) {
      if (pushed && is_unsettled(static_cast<uint32_t>(worker), position_)) workers.push_back(worker);
      continue;
    }
    const bool confirmed =
        tables_.servers() == 1 || ARGOSY_PLANTED("step_unconfirmed") || confirmed_[static_cast<size_t>(worker)] > position_;
    if (pushed ? !confirmed : !has_left(worker, position_)) workers.push_back(worker);
  }
  return workers;
}

MergedStep& SyncSteps::merged() {
  if (merged_ == nullptr) merged_ = std::make_unique<MergedStep>(tables_, contributions());
  return *merged_;
}

std::optional<std::vector<double>> SyncSteps::norms(Position step) {
  const auto settled = [this] {
    return std::ranges::none_of(contributions(), [this](const auto* one) { return is_unsettled(one->worker, position_); });
  };
  if (step == position_ && complete() && settled()) return merged().norms();
  if (!last_norms_.empty() && step == last_step_) return last_norms_;
  return std::nullopt;
}

std::unique_ptr<MergedStep> SyncSteps::commit(std::span<const float> factors) {
  last_norms_ = merged().norms();
  last_step_ = position_;
  std::unique_ptr<MergedStep> step = std::move(merged_);
  step->clip(factors);
  held_.erase(position_);
  ++position_.step;
  return step;
}

void SyncSteps::end_rounds() {
  merged_.reset();  // the caller may have changed who contributes
  for (;;) {
    bool anybody = false;
    for (int worker = 0; worker < members_.workers(); ++worker) {
      if (!members_.is_awaited(worker)) continue;
      anybody = true;
      if (!has_left(worker, position_)) return;
    }
    if (!anybody || held_.contains(position_)) return;
    position_ = {position_.round + 1, 0};
    std::erase_if(left_, [this](const auto& entry) { return entry.first.second < position_.round; });
    held_.erase(held_.begin(), held_.lower_bound(position_));
  }
}

bool SyncSteps::skip_lost_steps() {
  if (held_.empty() || held_.begin()->first == position_) return false;
  for (int worker = 0; worker < members_.workers(); ++worker) {
    if (!members_.is_awaited(worker) || has_left(worker, position_)) continue;
    const auto pushed = [worker](const auto& step) { return step.second.contains(static_cast<uint32_t>(worker)); };
    if (std::ranges::none_of(held_, pushed)) return false;
  }
  position_ = held_.begin()->first;
  std::erase_if(left_, [this](const auto& entry) { return entry.first.second < position_.round; });
  merged_.reset();
  return true;
}

SyncSteps::Saved SyncSteps::save() const { return {position_, last_step_, last_norms_, left_}; }

void SyncSteps::restore(const Saved& saved) {
  position_ = saved.position;
  last_step_ = saved.last_step;
  last_norms_ = saved.last_norms;
  left_ = saved.left;
  held_.clear();
  merged_.reset();
  std::ranges::fill(confirmed_, Position());
}

}  // namespace argosy::ps
