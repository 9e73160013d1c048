#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/ps/spec/messages.pb.h"
#include "argosy/ps/spec/staleness.h"
#include "argosy/ps/state/state.h"

namespace argosy::ps {

// How stale pushes of each table were: how many batches of all workers (sync: steps) this server applied between the reading
// that their gradients were computed from and their arrival. Other pushes that are being applied at these two moments count or do
// not. Of this process: recovery and followers, which apply logs, count nothing.
//
// Thread-safe, and without a lock but when the first push comes.
class TableStaleness {
 public:
  struct Counts {
    std::array<uint64_t, kStalenessCounts> pushes = {};
    uint64_t sum = 0;

    uint64_t total() const;
  };

  // The read_at of what is read from now on.
  static uint64_t read_at(const State& state) { return state.rate_step() + 1; }
  // A push that was applied, which came when read_at() was `arrived`. What it does not tell is not counted, nor is what lies
  // ahead of this server, which may be where it was restarted without a log.
  void observe(const State& state, const wire::PushRequest& push, uint64_t arrived);

  Counts of(size_t table) const;  // zeros where none was observed

 private:
  struct Table {
    std::array<std::atomic<uint64_t>, kStalenessCounts> pushes = {};
    std::atomic<uint64_t> sum = 0;
  };

  std::vector<Table>& tables_for(size_t count);

  Mutex mutex_;
  std::unique_ptr<std::vector<Table>> owned_ ARGOSY_GUARDED_BY(mutex_);
  std::atomic<std::vector<Table>*> tables_ = nullptr;  // owned_, once it is there
};

}  // namespace argosy::ps
