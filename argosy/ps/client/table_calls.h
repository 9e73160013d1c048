#pragma once

#include <optional>
#include <span>
#include <vector>

#include "argosy/ps/client/client_types.h"
#include "argosy/ps/client/payload.h"
#include "argosy/ps/client/pool.h"
#include "argosy/ps/client/row_split.h"
#include "argosy/ps/client/session.h"
#include "argosy/ps/spec/ledger.h"

namespace argosy::ps {

// What a client does to tables as a whole: first values, export and import, rates, shrinking; and what servers tell of
// themselves. Client has the contracts.
//
// Thread-safe.
class TableCalls {
 public:
  explicit TableCalls(Session& session) : session_(session) {}

  Status init_dense(int table, std::span<const float> values);
  Status wait_initialised(Deadline deadline);
  Status for_each_row(int table, const RowVisitor& visit, size_t max_bytes);
  Status import_rows(int table, std::span<const uint64_t> keys, std::span<const float> values);
  Status import_dense(int table, std::span<const float> values);
  Status set_rate(int table, std::optional<float> rate);
  Result<ShrinkReport> shrink(int table, const ShrinkLimits& limits, uint64_t number);
  Result<std::vector<ServerStats>> stats();
  Result<JobLedger> ledger();

 private:
  Servers& servers() const { return session_.servers(); }
  const JobSpec& job() const { return session_.spec(); }
  Status export_rows(int server, int table, const RowVisitor& visit, size_t max_bytes);
  Status send_dense(wire::Method method, int table, std::span<const float> values);

  Session& session_;
  Pool<Bytes> bytes_;
  Pool<RowSplit> splits_;
};

}  // namespace argosy::ps
