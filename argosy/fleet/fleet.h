#pragma once

#include <optional>
#include <string>
#include <vector>

#include "argosy/fleet/role.h"

namespace argosy::fleet {

// A process's place in its job. One a process is used through the functions below; a second Fleet is for tests. Throws
// argosy::Error; every query before init() is such an error. Thread-compatible.
class Fleet {
 public:
  void init(RoleInfo role);
  bool initialised() const { return role_.has_value(); }

  bool is_first_worker() const { return is_worker() && role().index == 0; }
  bool is_worker() const { return role().role == Role::worker; }
  bool is_server() const { return role().role == Role::server; }
  int worker_index() const;  // REQUIRES: is_worker()
  int server_index() const;  // REQUIRES: is_server()
  int worker_num() const { return role().worker_count; }
  int server_num() const { return static_cast<int>(role().server_endpoints.size()); }
  const std::vector<std::string>& worker_endpoints() const { return role().worker_endpoints; }
  const std::vector<std::string>& server_endpoints() const { return role().server_endpoints; }

  // This worker's part of a list of files: consecutive ones, sizes differing by one at most. All of it before init().
  std::vector<std::string> get_file_shard(const std::vector<std::string>& files) const;

 private:
  const RoleInfo& role() const;

  std::optional<RoleInfo> role_;
};

Fleet& fleet();

// The role from the environment (see paddle_cloud_role), or a given one.
void init();
void init(RoleInfo role);

inline bool is_first_worker() { return fleet().is_first_worker(); }
inline bool is_worker() { return fleet().is_worker(); }
inline bool is_server() { return fleet().is_server(); }
inline int worker_index() { return fleet().worker_index(); }
inline int server_index() { return fleet().server_index(); }
inline int worker_num() { return fleet().worker_num(); }
inline int server_num() { return fleet().server_num(); }
inline std::vector<std::string> worker_endpoints() { return fleet().worker_endpoints(); }
inline std::vector<std::string> server_endpoints() { return fleet().server_endpoints(); }

}  // namespace argosy::fleet
