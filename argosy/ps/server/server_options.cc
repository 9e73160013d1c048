#include "argosy/ps/server/server_options.h"

#include "argosy/base/counted.h"
#include "argosy/base/kept_state.h"

namespace argosy::ps {

std::string_view durability_name(Durability durability) {
  constexpr std::string_view names[] = {"none", "snapshot", "wal", "wal_sync"};
  return names[static_cast<size_t>(durability)];
}

std::string_view on_worker_loss_name(OnWorkerLoss choice) {
  constexpr std::string_view names[] = {"fail", "wait", "shrink"};
  return names[static_cast<size_t>(choice)];
}

std::string_view on_old_state_name(OnOldState choice) {
  constexpr std::string_view names[] = {"stop", "resume", "fresh"};
  return names[static_cast<size_t>(choice)];
}

Durability ServerOptions::settled_durability() const {
  if (!follow.empty() && !replica) return Durability::none;
  return durability.value_or(directory.empty() ? Durability::none : Durability::wal);
}

Status ServerOptions::check() const {
  if (servers < 1) return Status::invalid_argument("servers is {}; expected at least 1", servers);
  if (server < 0 || server >= servers) {
    return Status::invalid_argument("server is {}; expected 0 to {}, because the job has {}", server, servers - 1,
                                    counted(servers, "server"));
  }
  RETURN_IF_ERROR(check_kept_state({.directory = directory,
                                    .durability = std::string(durability_name(settled_durability())),
                                    .mem_limit_bytes = mem_limit_bytes,
                                    .replicas = replica}));
  RETURN_IF_ERROR(check_state_folder(directory));
  if (replica && address.empty())
    return Status::invalid_argument("replicas is 1, and the server listens nowhere: its follower has to reach it");
  if (!replica && !follow.empty() && durability && *durability != Durability::none) {
    return Status::invalid_argument(
        "durability is {}, and a follower keeps nothing: what it has is in the log of the server that it follows",
        durability_name(*durability));
  }
  if (!(log_sync_seconds > 0)) {
    return Status::invalid_argument("log_sync_seconds is {}; expected more than 0", log_sync_seconds);
  }
  if (!(lease_seconds > 0)) return Status::invalid_argument("lease_seconds is {}; expected more than 0", lease_seconds);
  if (spec && workers != 0 && spec->workers != workers) {
    return Status::invalid_argument("workers is {}, and the job spec says {}", workers, spec->workers);
  }
  if (import_first && !spec)
    return Status::invalid_argument("import_first needs the job's spec: there are no tables to fill yet");
  return spec ? spec->check() : Status();
}

}  // namespace argosy::ps
