#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/rpc/security.h"

namespace argosy::ps {

struct ArbiterOptions {
  std::vector<std::string> servers, followers;  // "host:port", one of each per server, in the same order
  std::string job = {}, run = {};  // whose servers they are; empty: not known. Servers that were given a run want to hear it
  rpc::Security security = {};
  // Says what it has decided, to people. On the arbiter's thread.
  std::function<void(const std::string& line)> tell = {};
};

// Says which of the two processes of each server is the primary (replicas=1): asks them all how they are, several times per
// second, and tells them (PairJudge decides). One per job: processes refuse a second one while the first one asks. Where it
// ends, primaries go on as they are, and nobody takes over.
//
// Owns the thread "ps-arbiter". Thread-safe.
class Arbiter {
 public:
  static Result<std::unique_ptr<Arbiter>> start(ArbiterOptions options);
  virtual ~Arbiter() = default;  // ends the thread

  // ---- From who starts the processes, and so knows more than can be asked: which process of which server.
  virtual void ended(int server, bool follower) = 0;  // another one may come
  virtual void gone(int server, bool follower) = 0;   // none will come
  virtual void finished(int server) = 0;  // one of them has ended as it should, with its job: nothing more to decide

  virtual bool has_led(int server) const = 0;  // whether one of its processes was seen as the primary
  // The job has ended well: from now on nobody is given a role, and who still waits for one, on whatever machine, is told that
  // the job has ended.
  virtual void conclude() = 0;
  // Then: which processes may wait for a role, or will when they have been started again, and could not be told yet; empty: none.
  virtual std::string not_told() const = 0;

  // The endpoints of processes that have not answered yet, and are not known to have ended; empty: none.
  virtual std::string unheard() const = 0;

  // data_loss where a server can no longer be had: it says what is lost. failed_precondition where a process has refused this
  // arbiter for some time: it is of another job or run, or has another arbiter.
  virtual Status lost() const = 0;
};

}  // namespace argosy::ps
