#include "argosy/ps/client/table_check.h"

namespace argosy::ps {

Status check_table_kind(const JobSpec& job, int table, bool sparse) {
  if (table < 0 || static_cast<size_t>(table) >= job.tables.size()) {
    return Status::invalid_argument("table {} of a job with {} tables", table, job.tables.size());
  }
  const TableSpec& spec = job.tables[static_cast<size_t>(table)];
  if (spec.sparse == sparse) return {};
  return Status::invalid_argument("table '{}' is {}; this call is for {} tables", spec.name, spec.sparse ? "sparse" : "dense",
                                  sparse ? "sparse" : "dense");
}

Status check_dense_size(const JobSpec& job, int table, size_t values) {
  RETURN_IF_ERROR(check_table_kind(job, table, false));
  const TableSpec& spec = job.tables[static_cast<size_t>(table)];
  if (values == spec.size) return {};
  return Status::invalid_argument("table '{}': {} values given, it has {}", spec.name, values, spec.size);
}

}  // namespace argosy::ps
