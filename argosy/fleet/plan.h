#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/engine/remote/remote_parameters.h"
#include "argosy/graph/program.h"
#include "argosy/ps/communicator/communicator.h"
#include "argosy/ps/spec/job_spec.h"

namespace argosy::fleet {

// How a training program is shared between workers and servers: what servers hold and do, and under which names a program
// knows it. A plain value.
struct Plan {
  // An accumulator of an optimizer, which the servers keep beside the parameter.
  struct State {
    int table = 0;
    size_t slot = 0;  // among optim::Rule::states() of the table's rule
    std::vector<int64_t> shape;
  };

  ps::JobSpec spec;
  std::vector<std::vector<int64_t>> shapes;  // of each table's parameter
  std::vector<ps::NormClip> norm_clips;
  std::vector<ps::TableValueClip> value_clips;  // of modes other than sync
  std::map<std::string, State, std::less<>> states;  // by the variable's name
  // Geo: the accumulators' variables. Each worker's communicator keeps its own, so no program has them and no model either.
  std::set<std::string, std::less<>> worker_states;
  std::map<int, std::pair<std::string, std::string>> show_click;  // by table: the variables that count its samples
  std::vector<std::string> gradients;  // of each table; empty for a parameter that is not trained
  std::string
      learning_rate;  // the variable of the constant rate of all tables; empty for a schedule, and where there are several
  std::map<std::string, double>
      own_rates;  // where there are several: the variables of the constant ones, with their first values
  std::vector<std::string> persistables;  // of the whole program, sorted: the order of a file that has all of them

  std::map<std::string, engine::RemoteVariable, std::less<>> variables() const;
  double first_rate() const;  // of learning_rate; 0 where that is empty
  std::string text() const;   // a line a table, for people
};

// Reads a program that minimize() has completed. A parameter whose update servers cannot do (a learning rate that operators
// compute, an element type other than float32, …) is an error that names it.
Result<Plan> make_plan(const graph::Program& main, const graph::Program& startup, ps::Mode mode, int workers);

// Notes the state variables of a table that `update` keeps. REQUIRES: plan.spec.mode is the job's.
void add_states(Plan& plan, int table, const graph::Block& block, const graph::OpDesc& update);

// Makes a worker's programs of a job: `main` computes gradients and sends them; `startup` makes no tables and no optimizer
// state, and ends with meeting the servers.
Status make_worker_programs(const Plan& plan, const std::string& job, graph::Program& main, graph::Program& startup);

inline constexpr std::string_view kServeOp = "listen_and_serv";

// A server's program: its parameters with their state, the update operators, and an operator that serves them at `endpoint`
// until the job ends. And what it may be run after: first values for the parameters.
struct ServerProgramOptions {
  std::string job;
  std::string endpoint;                         // of this server
  std::vector<std::string> endpoints;           // of all
  std::map<std::string, std::string> settings;  // of the job
};
std::shared_ptr<graph::Program> make_server_program(const Plan& plan, const graph::Program& main,
                                                    const ServerProgramOptions& options);
std::shared_ptr<graph::Program> make_server_startup(const Plan& plan, const graph::Program& startup);

// The plan that a server's program carries: its specification and the names of variables; what only workers need is left out.
Result<Plan> plan_of_server_program(const graph::Program& program, const graph::OpDesc& serve);

}  // namespace argosy::fleet
