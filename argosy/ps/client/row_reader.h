#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/ps/spec/job_spec.h"
#include "argosy/rpc/security.h"

namespace argosy::ps {

struct RowReaderOptions {
  // Of all servers of a job, or of a follower of each, in any order, as connect_server() takes them: "host:port", or both of a
  // server with two processes, "host:port+host:port".
  std::vector<std::string> endpoints;
  std::string run;                     // of the job; empty: that of the first endpoint
  rpc::Security security;
  double wait_seconds = 60;  // for one that is away, or has not caught up
  std::optional<double> read_wait_seconds = {};  // the same, once connected; nothing: wait_seconds
  uint64_t max_message_bytes = uint64_t{256} << 20;
};

// Reads the tables of a running job without being a part of it, from its servers or from followers of them. Nobody waits for a
// reader, and it changes nothing: a row that is not there is read as the value that it would begin with.
//
// A call whose server is away is repeated until it has been away for wait_seconds; then the error names it.
//
// Thread-safe.
class RowReader {
 public:
  // Asks each endpoint which server it is. Refuses, naming both, two that are the same one, of different jobs, runs or schemas;
  // and a list in which one is missing.
  static Result<std::unique_ptr<RowReader>> connect(const RowReaderOptions& options);
  virtual ~RowReader() = default;

  virtual const JobSpec& spec() const = 0;
  virtual const std::string& job() const = 0;
  virtual const std::string& run() const = 0;
  // The number of a table; not_found lists those that there are.
  Result<size_t> table(std::string_view name) const;

  // REQUIRES: rows.size() == keys.size() * width. `missing` gets the places of keys that have no row, ascending.
  virtual Status pull_rows(size_t table, std::span<const uint64_t> keys, std::span<float> rows,
                           std::vector<size_t>* missing = nullptr) = 0;
  // REQUIRES: values.size() is the table's size.
  virtual Status pull_dense(size_t table, std::span<float> values) = 0;

  struct Rows {
    std::vector<uint64_t> keys;  // ascending
    std::vector<float> values;
  };
  // All that there are of a sparse table.
  virtual Result<Rows> export_rows(size_t table) = 0;

  // How an endpoint stands.
  struct Source {
    std::string endpoint;
    std::string follows;   // the server that it follows; empty: it is a server itself
    uint64_t version = 0;  // records that it has applied since the job began
    uint64_t lag_records = 0;
    double lag_seconds = 0;
    std::string waits_for;
    std::string answers_from;  // the kept version that a follower answers from; empty: its newest
    std::string wire_format;   // that gradients come to it in, rounded; empty: its rows are the server's
  };
  // By server.
  virtual Result<std::vector<Source>> sources() = 0;

  // Versions that a follower keeps beside its newest one.
  struct Kept {
    std::string name;
    uint64_t version = 0;
    double age_seconds = 0;
  };
  struct Versions {
    std::string endpoint;
    uint64_t newest = 0;
    std::string answers_from;  // empty: the newest
    std::vector<Kept> kept;
  };
  enum class VersionAction { list, keep, drop, answer_from };
  // Does it at every follower, one after the other, and returns how each stands then. answer_from without a name: the newest.
  // Servers that are no followers refuse it.
  virtual Result<std::vector<Versions>> versions(VersionAction action, const std::string& name) = 0;
};

}  // namespace argosy::ps
