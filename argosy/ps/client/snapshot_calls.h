#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "argosy/ps/client/client_types.h"
#include "argosy/ps/client/session.h"
#include "argosy/ps/spec/load_report.h"

namespace argosy::ps {

// Saving and loading snapshots: operations that take longer than a call may, and are asked for until they are done
// (messages.proto: SaveSnapshot). Client has the contracts.
//
// Thread-safe.
class SnapshotCalls {
 public:
  explicit SnapshotCalls(Session& session) : session_(session) {}

  Result<std::vector<ServerSnapshotPart>> save_snapshot(const std::string& folder, SnapshotKind kind, std::string_view extra,
                                                        uint64_t number);
  Result<SnapshotLoadReport> load_snapshot(const std::string& folder, uint64_t number);

 private:
  // Starts the operation on these servers and asks for it until all have done it, telling in the log how far it is; cancels it
  // after operation_seconds, and where a server refuses.
  template <typename Reply, typename Request>
  Result<std::vector<Reply>> until_done(wire::Method method, Request request, std::vector<int> servers, std::string_view what);
  void cancel_operation(uint64_t id, uint64_t attempt);
  std::string where_loaded(const wire::LoadSnapshotRequest& request);
  Servers& servers() const { return session_.servers(); }

  Session& session_;
};

}  // namespace argosy::ps
