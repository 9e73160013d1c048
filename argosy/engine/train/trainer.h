#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/data/dataset.h"
#include "argosy/engine/train/runner.h"

namespace argosy::engine {

// Where a run over a dataset stands. Seconds of phases are summed over threads.
struct TrainProgress {
  int64_t batches = 0, samples = 0;
  double seconds = 0;          // since the start
  double read_seconds = 0;     // waiting for and parsing data, and waiting for rows that are prefetched
  double compute_seconds = 0;  // operators
  double samples_per_second() const { return seconds > 0 ? static_cast<double>(samples) / seconds : 0; }
};

struct TrainOptions {
  std::vector<std::pair<std::string, std::string>> fetch;  // (what is printed, variable)
  int print_period = 100;  // fetches are printed at the first batch, every so many, and the last
  int threads = 0;  // 0: as many as the dataset says
  bool debug = false;  // print where the time went, phase by phase and operator by operator
  std::function<void(std::string_view)> print;  // takes one line; stdout where empty. Never called by two threads at once.
  std::function<void(const TrainProgress&)> on_progress;  // a few times per second, from one thread; may be empty

  std::vector<std::string> watch;  // variables that on_watch wants to see
  double watch_seconds = 60;       // between two calls of it, and before the first
  std::function<void(const std::vector<Value>&)> on_watch;  // copies, in the order of `watch`; from one thread, between batches
};

struct TrainReport {
  TrainProgress total;
  std::vector<Value> last_fetches;  // of the batch that ended last, in the order of TrainOptions::fetch
  data::DatasetCounters data;
};

// Runs `program` once for every batch of `source`, on several threads that share the parameters of `scope` and update them
// without waiting for each other (Hogwild). Each thread computes with one core. The first error ends all threads and is
// returned; what was trained until then stays.
Result<TrainReport> train(Runner& runner, const graph::Program& program, data::BatchSource& source, const TrainOptions& options,
                          Scope& scope);

}  // namespace argosy::engine
