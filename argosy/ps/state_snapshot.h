#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/ps/state_tables.h"
#include "argosy/table/snapshot.h"
#include "argosy/table/snapshot_writer.h"

// Tables in snapshots. What one number of servers wrote, any other number reads: each takes the rows and elements that are its
// own.
namespace argosy::ps {

struct WrittenTables {
  uint64_t rows = 0;
  uint64_t bytes = 0;
};

// Adds the tables of one server: everything, or what has changed since `saved`. REQUIRES: nobody changes the tables meanwhile.
Result<WrittenTables> write_tables(const Tables& tables, const wire::SavedRecord* saved, table::SnapshotWriter& writer);

// Puts what belongs to this server in place of what the tables hold; tables that the snapshot does not have stay as they are, and
// so do those that are not in `only`, where that is not empty. Returns a report for every table of the job or the snapshot. A
// table of another width or rule is refused by name. After an error the tables hold a part of each.
Result<std::vector<wire::TableReport>> read_tables(const table::Snapshot& snapshot, Tables& tables,
                                                   const std::set<std::string, std::less<>>& only = {});

// Elements [begin, end) of a dense table's bytes (DenseTable::export_bytes), in the same form.
Result<std::string> slice_dense(std::string_view bytes, uint64_t begin, uint64_t end);

}  // namespace argosy::ps
