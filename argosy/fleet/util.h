#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/fleet/role.h"

namespace argosy::fleet {

// How the workers of a job talk with each other: through the servers, or as a collective group. Throws argosy::Error.
// Thread-compatible.
class JobPeers {
 public:
  virtual ~JobPeers() = default;
  virtual void barrier() const = 0;
  virtual void all_reduce(std::vector<double>& values, const std::string& mode) const = 0;
  virtual void all_reduce(std::vector<int64_t>& values, const std::string& mode) const = 0;
  virtual std::vector<std::string> all_gather(const std::string& bytes) const = 0;
  // A number below `count` that nobody got before under this list's name; none: all are taken.
  virtual std::optional<size_t> next(const std::string& list, size_t count) const = 0;
};

// What workers do together besides training. Throws argosy::Error. Thread-compatible.
class Util {
 public:
  // A process before init() has neither role nor peers, and is alone.
  Util(std::optional<RoleInfo> role, std::shared_ptr<const JobPeers> peers) : role_(std::move(role)), peers_(std::move(peers)) {}

  // This worker's part of a list of files: consecutive ones, sizes differing by one at most. All of it before init().
  std::vector<std::string> get_file_shard(const std::vector<std::string>& files) const;
  // The next file of a list that every worker has, for a worker that is free: each file goes to one worker. None: all are taken.
  std::optional<std::string> next_file(const std::string& list, const std::vector<std::string>& files) const;

  // Of all workers. With parameter servers what each has trained before it is on the servers behind it, and in the parameters
  // here.
  void barrier() const;
  // Element by element over all workers: "sum", "max" or "min".
  std::vector<double> all_reduce(std::vector<double> values, const std::string& mode = "sum") const;
  std::vector<int64_t> all_reduce(std::vector<int64_t> values, const std::string& mode = "sum") const;
  std::vector<std::string> all_gather(const std::string& bytes) const;  // worker by worker
  void print_on_rank(const std::string& message, int rank) const;       // on the worker with that number only

 private:
  const RoleInfo& role() const;
  const JobPeers& peers() const;

  std::optional<RoleInfo> role_;
  std::shared_ptr<const JobPeers> peers_;
};

}  // namespace argosy::fleet
