#pragma once

#include <atomic>
#include <list>
#include <string>
#include <string_view>

#include "argosy/base/mutex.h"
#include "argosy/base/status.h"

namespace argosy::ps {

// Which run of its job a server belongs to, and who may therefore speak to it. A run is one start of a job; its id is in every
// message, so that neither another job at the same address nor a process that an earlier run left behind is heard.
//
// The launcher, ARGOSY_RUN_ID or a scheduler gives the id to all processes. Where nobody has, server 0 draws it, a worker gets it
// from server 0's answer to its Hello, and the other servers take that of the first worker that brings one.
//
// Thread-safe. check() is a comparison of two strings.
class RunGuard {
 public:
  RunGuard(std::string given, bool first_server);

  // Empty: not known yet, which only happens before the first Hello.
  const std::string& id() const { return *id_.load(); }
  bool given() const { return given_; }

  // ---- Before the server listens.

  // What the server's directory says; empty: forget it. Does nothing where an id was given.
  void restore(const std::string& id);
  // Server 0 draws one where there is none.
  void settle();

  // ---- From then on. The error says which run the caller belongs to and which the server; who they are is left to the caller.

  // Whether a worker may say Hello with this id; where it has none, server 0 will tell it.
  Status check_hello(std::string_view run) const;
  // The same, and takes the id where there is none yet.
  Status take(const std::string& run);
  // Whether any other message may be heard. One that comes before the id is known is left to other checks.
  Status check(std::string_view run) const;

 private:
  void set(const std::string& id) ARGOSY_REQUIRES(mutex_);

  const bool given_, first_server_;
  Mutex mutex_;            // of who sets
  std::list<std::string> ids_ ARGOSY_GUARDED_BY(mutex_);  // what id_ ever pointed to
  std::atomic<const std::string*> id_;
};

}  // namespace argosy::ps
