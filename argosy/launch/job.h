#pragma once

#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/launch/process.h"

namespace argosy::launch {

// A parameter-server job on this machine, as the command line describes it.
struct JobOptions {
  int server_num = 2, worker_num = 2;
  std::vector<std::string> servers, workers;  // endpoints; made from start_port where empty
  int start_port = 6170;
  std::string log_dir = "logs";
  bool no_python = false;
  std::string python = "python3";
  std::vector<std::string> command;  // script and its arguments
};

struct Job {
  std::vector<ProcessSpec> servers, workers;
};

// The processes of the job with the environment that role makers read: TRAINING_ROLE, PADDLE_PSERVERS_IP_PORT_LIST,
// PADDLE_TRAINERS_NUM, PADDLE_TRAINER_ENDPOINTS, PADDLE_TRAINER_ID or PADDLE_PSERVER_ID, POD_IP and PADDLE_PORT,
// PADDLE_CURRENT_ENDPOINT. Servers listen on 127.0.0.1:start_port and up, workers are named by the ports after those.
Result<Job> make_job(const JobOptions& options);

// A server endpoint of this machine that somebody listens on already is an error that names it.
Status check_ports_free(const std::vector<std::string>& endpoints);

}  // namespace argosy::launch
