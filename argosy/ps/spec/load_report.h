#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace argosy::ps {

struct LoadedTable {
  std::string table;
  uint64_t rows = 0;     // over all servers that were asked; elements of a dense table
  bool missing = false;  // in the job, not in the snapshot
  bool unused = false;   // in the snapshot, not in the job
};

// What became of the tables of a snapshot and of the job.
struct SnapshotLoadReport {
  std::vector<LoadedTable> tables;
  std::string extra;  // what the saver put beside them
};

}  // namespace argosy::ps
