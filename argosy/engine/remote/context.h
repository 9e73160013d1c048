#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/engine/remote/peers.h"
#include "argosy/engine/remote/remote_parameters.h"
#include "argosy/graph/op_desc.h"
#include "argosy/graph/program.h"

namespace argosy::engine {

// What programs reach outside their own process: the parameter servers of their jobs, the other processes of a collective job,
// and a server that serves. The maker of a job fills it, and the code that runs the job's programs gives it to their Runner; jobs
// with contexts of their own know nothing of each other, though they live in one process. Thread-safe.
class Context {
 public:
  // What the `listen_and_serv` operator of a server's program does.
  using Serve = std::function<Status(const graph::Program& program, const graph::OpDesc& serve, Scope& scope)>;

  explicit Context(Serve serve = nullptr) : serve_(std::move(serve)) {}
  Context(const Context&) = delete;

  // The servers of a job, by its name, which programs carry in their `send` and `recv` operators. A later one takes the place of
  // an earlier one of that name.
  void add_remote(const std::string& job, std::weak_ptr<RemoteParameters> remote);
  Result<std::shared_ptr<RemoteParameters>> remote(const std::string& job) const;

  // The other processes, for the operators of peers.h.
  void set_peers(std::shared_ptr<Peers> peers);
  Result<std::shared_ptr<Peers>> peers() const;

  Status serve(const graph::Program& program, const graph::OpDesc& serve, Scope& scope) const;

 private:
  const Serve serve_;  // empty: nobody can
  mutable Mutex mutex_;
  std::map<std::string, std::weak_ptr<RemoteParameters>> remotes_ ARGOSY_GUARDED_BY(mutex_);
  std::shared_ptr<Peers> peers_ ARGOSY_GUARDED_BY(mutex_);
};

}  // namespace argosy::engine
