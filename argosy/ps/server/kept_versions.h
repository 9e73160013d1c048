#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/ps/server/adoption.h"
#include "argosy/ps/state/state.h"

namespace argosy::ps {

// Versions of a follower's state that it holds beside the newest one, by name, so that reads can be answered from one of them: a
// way back that takes no longer than a message. A kept version is a whole copy in memory, made while the follower goes on (copy
// on write); it is gone with the process.
//
// Thread-safe: one copy is made at a time, without the lock.
class KeptVersions {
 public:
  // `adoption` makes the states of the copies. `most`: how many may be kept.
  KeptVersions(const Adoption& adoption, size_t most) : adoption_(adoption), most_(most) {}

  // Copies `newest` as it is now; nothing where there is one of that name. `applying` is held by the thread that changes the
  // state, and here for the moment that is copied. unavailable while another copy is being made; resource_exhausted beyond
  // `most`.
  Status keep(const std::string& name, State& newest, Mutex& applying);
  // failed_precondition where reads are answered from it. not_found lists the names.
  Status drop(const std::string& name);
  // Reads are answered from the version of that name from now on; an empty name: from the newest.
  Status answer_from(const std::string& name);

  // What reads are answered from; null: the newest. The holder may read for as long as it holds it.
  std::shared_ptr<State> answering() const;
  std::string answers_from() const;  // its name
  void report(wire::VersionsReply& reply) const;

  // Frees what was dropped, where `unused` says that nobody reads tables of it any more.
  void free_dropped(const std::function<bool()>& unused);

 private:
  struct One {
    std::string name;
    std::shared_ptr<State> state;
    Stopwatch since;
  };
  using All = std::vector<One>;

  Result<std::shared_ptr<State>> copy(State& newest, Mutex& applying) const;
  All::const_iterator find(const std::string& name) const ARGOSY_REQUIRES(mutex_);
  Status no_such(const std::string& name) const ARGOSY_REQUIRES(mutex_);

  const Adoption& adoption_;
  const size_t most_;
  mutable Mutex mutex_;
  bool copying_ ARGOSY_GUARDED_BY(mutex_) = false;
  All kept_ ARGOSY_GUARDED_BY(mutex_);  // the oldest first
  std::string answers_from_ ARGOSY_GUARDED_BY(mutex_);
  std::shared_ptr<State> answering_ ARGOSY_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<State>> dropped_ ARGOSY_GUARDED_BY(mutex_);  // exports may still read them
};

}  // namespace argosy::ps
