#include "argosy/rpc/arrival_budget.h"

#include <algorithm>
#include <chrono>

namespace argosy::rpc {
namespace {

constexpr size_t kMostAddresses = 4096;

}  // namespace

bool ArrivalBudget::has_any(const std::string& address, Time now) { return account(address, now).left >= 1; }

void ArrivalBudget::charge(const std::string& address, double amount, Time now) {
  Account& charged = account(address, now);
  charged.left = std::max(charged.left - amount, -most_);
}

ArrivalBudget::Account& ArrivalBudget::account(const std::string& address, Time now) {
  auto found = accounts_.find(address);
  if (found == accounts_.end() && accounts_.size() >= kMostAddresses) forget_the_full(now);
  if (found == accounts_.end()) {
    const bool full = accounts_.size() >= kMostAddresses;
    found = accounts_.try_emplace(full ? std::string() : address, Account{most_, now}).first;
  }
  found->second = {left_at(found->second, now), now};
  return found->second;
}

double ArrivalBudget::left_at(const Account& account, Time now) const {
  return std::min(most_, account.left + std::chrono::duration<double>(now - account.at).count() * per_second_);
}

void ArrivalBudget::forget_the_full(Time now) {
  if (now < forget_again_) return;
  forget_again_ = now + std::chrono::seconds(1);
  std::erase_if(accounts_, [&](const auto& entry) { return left_at(entry.second, now) >= most_; });
}

}  // namespace argosy::rpc
