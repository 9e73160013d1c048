#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "argosy/ps/spec/job_spec.h"
#include "argosy/ps/spec/window.h"

namespace argosy::ps {

// One server, as it says.
struct ServerStats {
  struct Table {
    std::string name;
    uint64_t rows = 0;
    uint64_t cold_rows = 0;
    uint64_t memory_bytes = 0;
    float rate = 0;
    uint64_t nonfinite = 0;  // rows, or parts of a dense table, that came with a gradient which is NaN or infinite
    // Pushes by how many batches of all workers (sync: steps) were applied between reading and pushing: "at most so many, and
    // more than the bound before", infinity last, without those that are none. And the sum of these batches.
    std::map<double, uint64_t> staleness;
    uint64_t staleness_sum = 0;
  };
  struct Worker {
    uint64_t incarnation = 0;
    std::string state;  // "not seen", "live", "lost", "done"
    double silent_seconds = 0;
    Window window;  // the batches of it that this server has
    uint64_t given_up = 0;  // batches that were dropped because the worker was lost
  };

  // What the server may have only so much of; `most` 0: it is only counted.
  struct Limit {
    std::string name;
    uint64_t now = 0, most = 0, refused = 0;
  };

  Position position;  // sync
  uint64_t batches = 0;  // applied, of all workers
  uint64_t pushes = 0;
  uint64_t duplicates = 0;
  uint64_t log_bytes = 0;
  uint64_t snapshots = 0;
  double last_pause_seconds = 0;
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  std::vector<Table> tables;
  std::vector<Worker> workers;
  std::vector<Limit> limits;
};

}  // namespace argosy::ps
