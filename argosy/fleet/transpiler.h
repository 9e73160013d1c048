#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/fleet/job.h"
#include "argosy/fleet/process_context.h"
#include "argosy/fleet/strategy.h"
#include "argosy/graph/program.h"

namespace argosy::fleet {

struct TranspileOptions {
  int trainer_id = 0;
  std::shared_ptr<graph::Program> program;  // the default one where null; completed by minimize()
  std::string pservers = "127.0.0.1:6174";  // "host:port,host:port"
  int trainers = 1;
  std::shared_ptr<graph::Program> startup_program;  // the default one where null
  std::string current_endpoint;                     // a server's own; used where get_pserver_program() is given none
  Strategy strategy;
};

// The older way to a parameter-server job: turns a program that trains on one machine into a worker's or a server's. The caller
// says by what it asks for which of the two this process is. Throws argosy::Error. Thread-compatible.
class DistributeTranspiler {
 public:
  // `context`: that the trainer's programs are run with.
  explicit DistributeTranspiler(std::shared_ptr<engine::Context> context = process_context()) : context_(std::move(context)) {}

  void transpile(const TranspileOptions& options);

  // The program that was given, changed in place, as is the startup program: it computes gradients and sends them.
  std::shared_ptr<graph::Program> get_trainer_program();
  // Running it serves until all trainers have closed their executors.
  std::shared_ptr<graph::Program> get_pserver_program(const std::string& endpoint) const;
  // First values of a server's parameters. Without it they are the first trainer's.
  std::shared_ptr<graph::Program> get_startup_program(const std::string& endpoint) const;

  Job& job() const;  // REQUIRES: transpile() was called

 private:
  void check_endpoint(const std::string& endpoint) const;

  const std::shared_ptr<engine::Context> context_;
  TranspileOptions options_;
  std::shared_ptr<graph::Program> original_, original_startup_;  // as they were given
  std::unique_ptr<Job> job_;
};

}  // namespace argosy::fleet
