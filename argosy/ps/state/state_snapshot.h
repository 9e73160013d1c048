#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "argosy/ps/state/state_tables.h"
#include "argosy/table/snapshot.h"
#include "argosy/table/snapshot_writer.h"

// Tables in snapshots. What one number of servers wrote, any other number reads: each takes the rows and elements that are its
// own.
namespace argosy::ps {

struct WrittenTables {
  uint64_t rows = 0;
  uint64_t bytes = 0;
};

// Told of `more` rows or elements that are done; an error ends the work.
using OnRows = std::function<Status(uint64_t more)>;

// The tables of one server as they were at one moment, written while they change. Thread-compatible; must not outlive the tables.
class TablesCut {
 public:
  // Everything, or what has changed since `saved`. In microseconds. REQUIRES: nobody changes the tables meanwhile.
  static Result<TablesCut> begin(const Tables& tables, const wire::SavedRecord* saved);

  uint64_t rows() const;  // about what write() will tell
  // Once.
  Result<WrittenTables> write(table::SnapshotWriter& writer, const OnRows& on_rows);

 private:
  struct Sparse {
    table::SparseTable* table;
    table::SparseTable::Cut rows;
    std::vector<uint64_t> erased;  // before those rows, which may have come back
  };
  struct Dense {
    table::DenseTable* table;
    table::DenseTable::Cut elements;
    Range range;
  };
  using Entry = std::variant<Sparse, Dense>;

  static Result<WrittenTables> write_one(Sparse& sparse, table::SnapshotWriter& writer, const OnRows& on_rows);
  static Result<WrittenTables> write_one(Dense& dense, table::SnapshotWriter& writer, const OnRows& on_rows);

  std::deque<std::unique_ptr<Entry>> entries_;
};

struct ReadOptions {
  std::set<std::string, std::less<>> only;                   // of these tables; empty: of all
  std::function<Status(std::string_view piece)> state = {};  // shown the pieces of the state
  OnRows on_rows = {};
};

struct ReadTables {
  std::vector<wire::TableReport> reports;  // for every table of the job or the snapshot
  std::set<size_t> found;                  // the tables that have got something
};

// Puts what belongs to this server in place of what the tables hold; tables that the snapshot does not have stay as they are. A
// table of another width or rule is refused by name. After an error the tables hold a part of each.
Result<ReadTables> read_tables(const table::Snapshot& snapshot, Tables& tables, const ReadOptions& options = {});
// The same where each server has written a snapshot of its own.
Result<ReadTables> read_tables(std::span<const table::Snapshot> parts, Tables& tables, const ReadOptions& options = {});

}  // namespace argosy::ps
