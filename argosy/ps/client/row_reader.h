#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/ps/spec/job_spec.h"
#include "argosy/rpc/security.h"

namespace argosy::ps {

struct RowReaderOptions {
  std::vector<std::string> endpoints;  // "host:port" of all servers of a job, or of a follower of each, in any order
  std::string run;                     // of the job; empty: that of the first endpoint
  rpc::Security security;
  double wait_seconds = 60;  // for one that is away, or has not caught up
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

  // REQUIRES: rows.size() == keys.size() * width.
  virtual Status pull_rows(size_t table, std::span<const uint64_t> keys, std::span<float> rows) = 0;
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
  };
  // By server.
  virtual Result<std::vector<Source>> sources() = 0;
};

}  // namespace argosy::ps
