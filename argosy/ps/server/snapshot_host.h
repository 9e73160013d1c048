#pragma once

#include <functional>
#include <string>

#include "argosy/ps/server/changes.h"
#include "argosy/ps/server/parking.h"
#include "argosy/ps/server/snapshotter.h"
#include "argosy/ps/server/state_holder.h"

namespace argosy::ps {

// A server as its Snapshotter sees it. Thread-safe.
class ServerSnapshotHost final : public SnapshotHost {
 public:
  // `idle`: see SnapshotHost::idle().
  ServerSnapshotHost(StateHolder& state, Changes& changes, Parking& parking, std::function<void()> idle)
      : state_(state), changes_(changes), parking_(parking), idle_(std::move(idle)) {}

  State* state() override { return state_.get(); }
  table::RecordLog* log() override { return changes_.journal() == nullptr ? nullptr : &changes_.journal()->log(); }
  uint64_t changes() const override { return changes_.counts().changes; }
  uint64_t news() const override { return changes_.counts().news; }
  Result<double> between_changes(const std::function<Status(State&)>& work) override { return changes_.between_changes(work); }
  Status in_order(const std::function<void(State&)>& work) override { return changes_.in_order(work); }
  Status commit(wire::Method method, const std::string& header) override {
    return changes_.commit_own(method, header, {}, Deadline::after_seconds(kCommitSeconds));
  }
  void values_changed() override { parking_.wake(Topic::initialised); }
  void idle() override { idle_(); }

 private:
  static constexpr double kCommitSeconds = 60;

  StateHolder& state_;
  Changes& changes_;
  Parking& parking_;
  const std::function<void()> idle_;
};

}  // namespace argosy::ps
