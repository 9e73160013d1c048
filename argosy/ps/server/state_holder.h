#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "argosy/ps/state/state.h"

namespace argosy::ps {

// The state of the job that a server serves: none before a worker, or the server's directory, has said what the job is.
//
// Thread-safe for readers. set() and clear() are called by one thread at a time: within the turn of changes, or before the
// server listens; clear() only before.
class StateHolder {
 public:
  State* get() const { return state_.load(); }
  // REQUIRES: there is one.
  State& operator*() const { return *state_.load(); }
  State* operator->() const { return state_.load(); }
  explicit operator bool() const { return state_.load() != nullptr; }

  void set(std::unique_ptr<State> state) {
    owned_ = std::move(state);
    state_ = owned_.get();
  }
  // Its cold rows are in the folder that the next one uses: it goes before that is made.
  void clear() {
    state_ = nullptr;
    owned_.reset();
  }

 private:
  std::unique_ptr<State> owned_;
  std::atomic<State*> state_ = nullptr;
};

}  // namespace argosy::ps
