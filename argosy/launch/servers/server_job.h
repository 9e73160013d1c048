#pragma once

#include <optional>
#include <string>
#include <vector>

#include "argosy/base/fd.h"
#include "argosy/base/port_claim.h"
#include "argosy/base/status.h"
#include "argosy/launch/process/job_process.h"
#include "argosy/launch/process/training_program.h"

namespace argosy::launch {

// A parameter-server job, as the command line describes it.
struct ServerJobOptions {
  std::optional<int> server_num, worker_num;  // 2 where neither they nor the lists are given
  std::vector<std::string> servers, workers;  // endpoints; made from start_port where empty. A worker's may be a host alone.
  std::vector<std::string> hosts;  // without lists: server_num and worker_num are of each of these; empty: this machine
  std::string node_ip;  // of the endpoints, only those of this host are started; empty: all of this machine
  std::optional<int> start_port;  // not given: 6170, or where another job has it or somebody listens there the next free ones
  std::string log_dir = "logs";
};

// The part of a job that runs on this machine.
struct ServerJob {
  std::vector<ProcessSpec> servers;  // with replicas=1 the followers of this machine are among them, behind the servers
  std::vector<ProcessSpec> workers;
  std::vector<std::string> all_servers = {},
                           all_followers = {};  // their endpoints, of the whole job; no followers with replicas=0
  bool has_other_workers = false;  // on other machines
  bool is_whole = false;           // all processes of the job are here
  std::string run = {};               // the run's id; see name_run()
  Fd directory_lock = {};             // see hold_directory()
  std::vector<PortClaim> ports = {};  // no other launch takes them while the job lives, also between two starts of a server
};

// The processes with the environment that role makers read: TRAINING_ROLE, PADDLE_PSERVERS_IP_PORT_LIST, PADDLE_TRAINERS_NUM,
// PADDLE_TRAINER_ENDPOINTS, PADDLE_TRAINER_ID or PADDLE_PSERVER_ID, POD_IP and PADDLE_PORT, PADDLE_CURRENT_ENDPOINT; variables
// that could say something else are not handed down. With ARGOSY_REPLICAS=1 each server has a follower, a process with the same
// variables but for ARGOSY_SEAT and its log: the next machine of `hosts` has it, or as ARGOSY_FOLLOWERS lists them, which
// `servers` needs. Without lists, servers are 127.0.0.1:start_port and up, and workers are
// named by the ports after those; where start_port is not given either, these ports are claimed for the job.
Result<ServerJob> make_job(const ServerJobOptions& options, const TrainingProgram& program);

// Claims the ports of this machine's servers, where make_job() was told which and has not. One that another launch has, or that
// somebody listens on already, is an error that names it.
Status claim_ports(ServerJob& job);

}  // namespace argosy::launch
