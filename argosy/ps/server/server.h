#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/status.h"
#include "argosy/ps/server/server_options.h"
#include "argosy/ps/spec/load_report.h"
#include "argosy/rpc/handler.h"

namespace argosy::ps {

// One parameter server: holds its part of a job's tables and answers the job's workers, as messages.proto says. With a
// directory it recovers the state that an earlier process left there.
//
// Thread-safe. Owns its threads: those of the rpc server, "ps-wake", "ps-periodic" (deadlines, leases), "ps-snapshot".
class Server {
 public:
  // Reads what is in the directory, then listens. Refuses a directory of another job, server or schema, naming both sides, and
  // one whose run it is not to go on with (ServerFolder says when).
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options);
  static Status available();  // Unimplemented in a build that has no servers (ARGOSY_SERVERS=OFF)
  virtual ~Server() = default;  // stop(), without a last snapshot

  virtual const std::string& endpoint() const = 0;  // "host:port"; empty where it does not listen
  virtual int port() const = 0;

  // False: a follower that has not caught up yet, and lets nobody in.
  virtual bool answers() const = 0;

  // Whether the directory had the state of an earlier process.
  virtual bool restored() const = 0;

  // With options.import_first: first values are given between these, all or none: a process that dies in between leaves nothing
  // of them to the next. False: the directory had them already; there is nothing to give, or to end.
  virtual Result<bool> begin_import() = 0;
  virtual Status end_import() = 0;

  // Gives tables their first values, before workers come: all of a table's values are given, and the server takes those that
  // are its own. `state`: not the values but that state of the rule (optim::Rule::states()); a sparse table's scalar comes
  // without keys. REQUIRES: options.spec.
  virtual Status import_dense(size_t table, std::optional<size_t> state, std::span<const float> values) = 0;
  virtual Status import_rows(size_t table, std::optional<size_t> state, std::span<const uint64_t> keys,
                             std::span<const float> values) = 0;

  // The same by a snapshot, which any number of servers wrote: of the tables in `only`, or of all where it is empty.
  virtual Result<SnapshotLoadReport> load_snapshot(const std::filesystem::path& folder, std::span<const std::string> only) = 0;

  // What answers requests, for channels within the process. Valid until stop().
  virtual rpc::Handler handler() = 0;

  // Waits until the server has something to end for: true. False: the deadline came first. An error: it cannot go on, because
  // of its disk; started again it finds what it had acknowledged.
  virtual Result<bool> wait(Deadline deadline) = 0;

  // Answers nobody any more, and cuts a last snapshot where there is a directory and durability is not none. Safe to call
  // twice.
  virtual Status stop() = 0;
};

}  // namespace argosy::ps
