#pragma once

#include <memory>
#include <span>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/optim/rule.h"
#include "argosy/ps/client/client.h"
#include "argosy/ps/communicator/geo_dense.h"
#include "argosy/ps/communicator/geo_rows.h"

namespace argosy::ps {

// A geo worker's differences of some batches, on their way to the servers.
struct GeoDifferences {
  struct Table {
    std::vector<uint64_t> keys;
    std::vector<float> values;
  };
  std::vector<BatchId> batches;
  std::vector<uint32_t> samples;  // of each batch
  std::vector<Table> tables;      // by table; dense ones have values only
  std::vector<DenseGradient> dense;
  std::vector<RowGradients> rows;
  std::vector<uint64_t> nonfinite;  // as in Push
};

// A geo worker's own copy of all tables of a job, with the rules that train it and their states.
//
// Threads: as GeoRows and GeoDense say of each table; begin_step() may be called by several at once.
class GeoTables {
 public:
  // `rules` are the tables', in their order.
  GeoTables(const JobSpec& spec, std::vector<std::unique_ptr<optim::Rule>> rules);

  // Before anything else, of a dense table: its parameter, as the servers have it.
  void begin_dense(size_t table, std::span<float> values) { dense_[table].begin(values, *rules_[table]); }
  // A step of the table's rule, whose scalar states it advances.
  optim::Step begin_step(size_t table, float rate);

  GeoRows& rows(size_t table) { return *rows_[table]; }  // REQUIRES: the table is sparse
  GeoDense& dense(size_t table) { return dense_[table]; }  // of a sparse table: of nothing

  // Rows as they are here; those that are not known are the servers', and are known from now on where they were to be made.
  Status pull(Client& client, std::span<const RowRequest> requests);

  // Makes the tables of `differences` what has changed since the last call, this worker's share of it. It counts as sent: the
  // caller sees that it is. While no thread trains.
  void collect(GeoDifferences& differences);

  // What other workers have changed: rows take it at once, dense parameters when receive_dense() is called, while no thread
  // trains.
  Status fetch(Client& client);
  void receive_dense();
  // What the servers told in the last fetch(), of rows and of dense parameters.
  const ReadAt& rows_read_at() const { return rows_read_at_; }
  const ReadAt& dense_read_at() const { return dense_read_at_; }

  // The sum of the absolute values of what was not collected.
  double unsent();
  // Forgets all rows, and what the rules have gathered: it is of a copy that is given up. While no thread trains.
  void forget();

 private:
  const JobSpec& spec_;
  const std::vector<std::unique_ptr<optim::Rule>> rules_;
  Mutex mutex_;
  std::vector<std::vector<float>> scalars_ ARGOSY_GUARDED_BY(mutex_);  // by table: the scalar states of its rule
  std::vector<std::unique_ptr<GeoRows>> rows_;  // by table; null: dense
  std::vector<GeoDense> dense_;                 // by table; empty: sparse
  ReadAt rows_read_at_, dense_read_at_;  // the exchange's alone
};

}  // namespace argosy::ps
