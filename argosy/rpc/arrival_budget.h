#pragma once

#include <map>
#include <string>

#include "argosy/base/clock.h"

namespace argosy::rpc {

// How many connections each address may open: so many at once, and then so many per second. Who has used up its own keeps
// nobody else out. Remembers a bounded number of addresses; beyond it, new ones share one account. Thread-compatible.
class ArrivalBudget {
 public:
  using Time = SteadyClock::time_point;

  ArrivalBudget(double most, double per_second) : most_(most), per_second_(per_second) {}

  bool has_any(const std::string& address, Time now);
  void charge(const std::string& address, double amount, Time now);  // below nothing too, as far as -`most`
  size_t addresses() const { return accounts_.size(); }

 private:
  struct Account {
    double left = 0;
    Time at;
  };
  Account& account(const std::string& address, Time now);  // with what it has earned since
  void forget_the_full(Time now);  // looks at all of them, once per second at most
  double left_at(const Account& account, Time now) const;

  const double most_, per_second_;
  std::map<std::string, Account> accounts_;  // the others have `most`
  Time forget_again_ = {};
};

}  // namespace argosy::rpc
