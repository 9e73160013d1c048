#include "argosy/launch/command/refused_flags.h"

#include <algorithm>

namespace argosy::launch {
namespace {

constexpr const char* kNoHeter = "jobs of workers with different devices (heter) are not part of Argosy; leave it out";
constexpr const char* kNoHttp =
    "workers meet at the servers, and there is no HTTP server whose port could be chosen; leave it out";
constexpr const char* kNoOtherDevice = "of accelerators there are NVIDIA's GPUs; choose them with --gpus";
constexpr const char* kNoEtcd =
    "machines meet at the first one's launcher, without etcd; use --nnodes=MIN:MAX with --rdzv_endpoint and --max_restart";
constexpr const char* kNoMapping = "ranks follow --ips or --node_rank, and processes are not placed by a file; leave it out";
constexpr const char* kNoAutoParallel =
    "models are not divided automatically; leave it out, and divide the data with --gpus and --ips";

// `defaults` are the values that say nothing.
Flag refuse(std::vector<std::string> names, const char* argument, const char* reason, std::vector<std::string> defaults = {}) {
  const std::string help = defaults.empty() ? "not supported; may be empty or None" : "not supported; may be " + defaults[0];
  return {std::move(names), Flag::Part::refused, argument, help,
          [reason, defaults = std::move(defaults)](CommandLine&, const std::string& text) {
            const bool says_nothing = text.empty() || text == "None" || std::count(defaults.begin(), defaults.end(), text) > 0;
            return says_nothing ? Status() : Status::unimplemented("found '{}': {}", text, reason);
          }};
}

std::vector<Flag> of_processes() {
  const std::vector<std::string> no = {"False", "false", "0"};
  return {
      refuse({"--heter_worker_num"}, "N", kNoHeter),
      refuse({"--heter_workers"}, "LIST", kNoHeter),
      refuse({"--heter_devices"}, "LIST", kNoHeter),
      refuse({"--http_port"}, "PORT", kNoHttp),
      refuse({"--gloo_port"}, "PORT", kNoHttp, {"6767"}),
      refuse({"--with_gloo"}, "0|1", "workers can always meet, at the servers; leave it out", {"1"}),
      refuse({"--backend"}, "NAME", "GPUs use NCCL and CPUs Gloo; for Gloo on GPUs use --collective_backend=gloo", {"auto"}),
      refuse({"--npus", "--selected_npus"}, "LIST", kNoOtherDevice),
      refuse({"--xpus", "--selected_xpus"}, "LIST", kNoOtherDevice),
      refuse({"--ranks"}, "LIST", kNoMapping),
      refuse({"--sort_ip"}, "True|False", "ranks follow --ips or --node_rank; write --ips in the order of the ranks", no),
      refuse({"--enable_rank_mapping"}, "True|False", kNoMapping, no),
      refuse({"--rank_mapping_path"}, "FILE", kNoMapping),
      refuse({"--cluster_topo_path"}, "FILE", kNoMapping),
      refuse({"--enable_auto_mapping"}, "True|False", kNoMapping, no),
  };
}

std::vector<Flag> of_launchers() {
  const std::vector<std::string> no = {"False", "false", "0"};
  return {
      refuse({"--legacy"}, "True|False", "there is one launcher, which knows the options of both; leave it out", no),
      refuse({"--log_overwrite"}, "True|False",
             "logs begin new, and those of the launch before go to old/ in the log folder; leave it out", no),
      refuse({"--enable_gpu_log"}, "True|False", "the launcher writes no log of GPUs; leave it out, and use nvidia-smi", no),
      refuse({"--auto_parallel_config"}, "FILE", kNoAutoParallel),
      refuse({"--auto_cluster_config"}, "True|False", kNoAutoParallel, no),
      refuse({"--auto_tuner_json"}, "FILE", "options are not tried out automatically; leave it out, and see docs/tuning.md"),
      refuse({"--elastic_level"}, "N", "use --max_restart, and --nnodes=MIN:MAX for machines that come and go", {"-1"}),
      refuse({"--elastic_timeout"}, "SECONDS",
             "an elastic job begins as soon as MIN machines of --nnodes=MIN:MAX are there; how long they wait is --rdzv_timeout"),
      refuse({"--elastic_server"}, "HOST:PORT", kNoEtcd),
      refuse({"--np"}, "N", kNoEtcd),
      refuse({"--scale"}, "N", "start or stop launchers of a job with --nnodes=MIN:MAX instead", {"0"}),
      refuse({"--force"}, "True|False", "start or stop launchers of a job with --nnodes=MIN:MAX instead", no),
      refuse({"--elastic_pre_hook"}, "COMMAND", "run it in front of the training program, in one script"),
  };
}

}  // namespace

std::vector<Flag> refused_flags() {
  std::vector<Flag> all = of_processes();
  for (Flag& flag : of_launchers()) all.push_back(std::move(flag));
  return all;
}

}  // namespace argosy::launch
