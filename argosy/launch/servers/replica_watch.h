#pragma once

#include <string>

namespace argosy::launch {

// Who decides which of a server's two processes is the primary (replicas=1), as a Supervisor sees it: it is told what happens to
// the processes, because who starts them knows first. Thread-safe.
class ReplicaWatch {
 public:
  virtual ~ReplicaWatch() = default;
  virtual void ended(int server, bool follower) = 0;  // not as it should; another process may be started
  virtual void gone(int server, bool follower) = 0;   // none will be
  virtual void finished(int server) = 0;              // one has ended as it should, or the job ends
  // Whether one of the server's two processes has been the primary. Before that neither has what the other could go on with.
  virtual bool has_led(int server) const = 0;
  // The job has ended well: processes of any machine that wait for a role, or will, are told.
  virtual void conclude() = 0;
  // Then: which of them could not be told yet; empty: none.
  virtual std::string not_told() const = 0;
  // What the job can no longer have; empty: nothing.
  virtual std::string lost() const = 0;
};

}  // namespace argosy::launch
