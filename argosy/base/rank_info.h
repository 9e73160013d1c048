#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"

namespace argosy {

// Which process of how many this is in a job of equals, and where they meet. A plain value.
struct RankInfo {
  int rank = 0, world_size = 1;              // among all processes
  int local_rank = 0, local_world_size = 1;  // among those of this machine
  // Where rank 0 listens, at this address alone, so that the others find it; empty and 0 in a job of one process. It is the first
  // of `endpoints` where there are any.
  std::string master_host;
  int master_port = 0;
  bool master_is_hosted = false;  // torchrun's agent listens there already, with c10d's TCPStore: rank 0 connects like the others
  std::vector<std::string> endpoints;  // "host:port" by rank, each process's own; empty where nobody told
  std::string device;  // "cpu", "gpu:N", or empty: the caller chooses
  int restart = 0;  // how often the group was started again
  std::string resume;  // the checkpoint to go on from; empty: from the beginning
  bool rejoins = false;  // in the place of a lost rank of a group that goes on (ARGOSY_REJOIN)
};

// From the variables of who started this process, the first of these that says anything:
//   fleetrun, PaddleCloud, PaddleJob  PADDLE_TRAINER_ID, PADDLE_TRAINERS_NUM, PADDLE_TRAINER_ENDPOINTS, PADDLE_CURRENT_ENDPOINT,
//                                     PADDLE_RANK_IN_NODE with PADDLE_LOCAL_SIZE, PADDLE_MASTER
//   torchrun, PyTorchJob              RANK, WORLD_SIZE, LOCAL_RANK with LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT
//   mpirun                            OMPI_COMM_WORLD_{RANK,SIZE,LOCAL_RANK,LOCAL_SIZE}, or Hydra's PMI_{RANK,SIZE} with
//                                     MPI_LOCALRANKID, MPI_LOCALNRANKS
//   srun                              SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID, SLURM_NODEID, SLURM_STEP_TASKS_PER_NODE
// and without any of them a job of one. MASTER_ADDR and MASTER_PORT also say where ranks of mpirun and srun meet; otherwise that
// is the first machine of SLURM_STEP_NODELIST, or 127.0.0.1 where mpirun's ranks are all on one machine, at a port from 20000 to
// 29999 that is made from the job's number. The device is from ARGOSY_DEVICE, then FLAGS_selected_gpus; restart and resume from
// TORCHELASTIC_RESTART_COUNT and ARGOSY_RESUME.
//
// A spare process (base/spare.h) waits here until it has a place.
//
// An empty variable counts as absent. One that is missing, is not what it should be or contradicts another of its family is an
// error that names it. Thread-safe as long as nobody calls setenv.
Result<RankInfo> rank_info_from_environment();

// A port from 20000 to 29999, below those that systems give to outgoing connections, that everybody makes alike from what names a
// job.
int port_for_job(std::string_view name);

// The machines of Slurm's compressed list, in order: "a[01-03,7],b" -> a01 a02 a03 a7 b.
Result<std::vector<std::string>> slurm_hosts(const std::string& list);

}  // namespace argosy
