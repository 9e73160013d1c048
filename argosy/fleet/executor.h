#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "argosy/engine/train/runner.h"
#include "argosy/engine/train/trainer.h"
#include "argosy/fleet/process_context.h"
#include "argosy/graph/build.h"
#include "argosy/graph/variable.h"

namespace argosy {

using engine::ExecutorOptions;
using engine::Feed;
using engine::Scope;
using engine::TrainProgress;
using engine::TrainReport;
using engine::Value;
using graph::Program;
using graph::Variable;

struct DatasetRunOptions {
  std::vector<std::pair<std::string, Variable>> fetch;  // {{"auc", auc.value}}: printed as it goes, returned at the end
  int print_period = 100;
  int threads = 0;  // 0: as many as the dataset says
  bool debug = false;
  std::function<void(const TrainProgress&)> on_progress;
  std::vector<Variable> watch;  // on_watch gets their values every watch_seconds: Python's fetch_handler
  double watch_seconds = 60;
  std::function<void(const std::vector<Value>&)> on_watch;
  Scope* scope = nullptr;  // the global one where null
};

// Runs programs, one batch at a time or over a dataset. Throws argosy::Error.
//
// Thread-safe, as engine::Runner is.
class Executor {
 public:
  // `context`: of the job whose programs it runs (Fleet::context()).
  // An ARGOSY_* variable that does not exist is an error here.
  explicit Executor(ExecutorOptions options = {}, std::shared_ptr<const engine::Context> context = fleet::process_context());

  std::vector<Value> run(const std::shared_ptr<Program>& program, const Feed& feed = {}, const std::vector<Variable>& fetch = {},
                         Scope* scope = nullptr);

  // One pass of training over the dataset, and one of the program's test form (see Program::clone).
  TrainReport train_from_dataset(const std::shared_ptr<Program>& program, data::BatchSource& dataset,
                                 const DatasetRunOptions& options = {});
  TrainReport infer_from_dataset(const std::shared_ptr<Program>& program, data::BatchSource& dataset,
                                 const DatasetRunOptions& options = {});

  // Forgets prepared programs. Safe to call twice; a later run prepares anew.
  void close() { runner_.clear(); }

  engine::Runner& runner() { return runner_; }

 private:
  engine::Runner runner_;
};

}  // namespace argosy
