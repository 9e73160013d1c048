#include "argosy/launch/command/command_line.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "argosy/base/env.h"
#include "argosy/base/env_variable.h"
#include "argosy/base/kept_state.h"
#include "argosy/base/log.h"
#include "argosy/base/rank_info.h"
#include "argosy/base/text.h"
#include "argosy/cli/program_arguments.h"
#include "argosy/launch/collective/devices.h"
#include "argosy/launch/command/add_flags.h"
#include "argosy/launch/command/flags.h"
#include "argosy/launch/command/host_slots.h"
#include "argosy/launch/command/job_file.h"
#include "argosy/launch/command/variables.h"
#include "argosy/launch/kubernetes/manifests.h"

namespace argosy::launch {
namespace {

using Mode = CommandLine::Mode;

// Whether somebody else has started a job with servers, of which this is one process.
bool is_pod_of_servers() { return variable("PADDLE_PSERVERS_IP_PORT_LIST") || variable("PADDLE_PSERVER_IPS"); }

bool is_one_of_several() {
  if (is_pod_of_servers()) return false;
  if (has_cloud_nodes()) return true;
  const auto place = rank_info_from_environment();
  return place.ok() && place->world_size > 1;
}

Mode default_mode() {
  if (is_pod_of_servers()) return Mode::ps;
  if (is_one_of_several()) return Mode::collective;
  const std::optional<EnvVariable> device = variable("ARGOSY_DEVICE");
  const bool gpu = !(device && device->value == "cpu") && !visible_gpus().empty();
  log_warning("Not found distinct arguments and {} seen. Default use {} mode", gpu ? "a GPU is" : "no GPU is",
              gpu ? "collective" : "ps");
  return gpu ? Mode::collective : Mode::ps;
}

constexpr const char* kExamples =
    R"(Starts the processes of a training job on this machine, watches them, and ends with the first failure's status.

  fleetrun --gpus=0,1 train.py --epochs 3             a process for each of two GPUs
  fleetrun --nproc_per_node=2 train.py                two processes on the CPU
  fleetrun --server_num=2 --worker_num=2 train.py     two parameter servers and two workers
  fleetrun --nproc_per_node=2 --no-python ./train     the same for a program in C++
  fleetrun job.yaml                                   a job as a file, which is the same on all hosts

On two machines, the same command on both:

  fleetrun --ips=10.0.0.1,10.0.0.2 --gpus=0,1,2,3 train.py
  fleetrun --nnodes=1:4 --rdzv_endpoint=10.0.0.1:29400 --max_restart=3 train.py    all but the first may come and go

Each process finds its place in PADDLE_TRAINER_ID, PADDLE_TRAINERS_NUM, … and in RANK, WORLD_SIZE, MASTER_ADDR, …; what it
writes goes to log/workerlog.N. Under mpirun, srun, torchrun or Kubernetes' PaddleJob and PyTorchJob, each launcher is
a machine of the job. python -m paddle.distributed.launch and launch_ps are the same program.
Values in parentheses are what an option has where it is not given. A wrong command line ends with status 2.
)";

class Help : public CLI::Formatter {
 public:
  Help() { column_width(38); }
  std::string make_usage(const CLI::App*, std::string) const override { return "Usage: fleetrun [OPTIONS] SCRIPT [ARGUMENTS]\n"; }
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    std::string names = CLI::Formatter::make_option_name(option, is_positional);
    const std::string hidden = std::string(",") + kMisspelt;
    if (const size_t at = names.find(hidden); at != std::string::npos) names.erase(at, hidden.size());
    return names;
  }
};

// REQUIRES: `line` outlives the result.
std::unique_ptr<CLI::App> make_app(CommandLine& line) {
  auto app = std::make_unique<CLI::App>(kExamples, "fleetrun");
  app->formatter(std::make_shared<Help>());
  app->prefix_command();
  add_flags(*app, line);
  cli::add_common_options(*app);
  return app;
}

std::string python_list(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  quoted.reserve(words.size());
  for (const std::string& word : words) quoted.push_back("'" + word + "'");
  return fmt::format("[{}]", join(quoted, ", "));
}

// What is for collective jobs whose ranks survive, where it would be taken and do nothing.
Status check_rank_loss(const CommandLine& line) {
  const bool survive = line.program.setting("ARGOSY_ON_RANK_LOSS") == "survive";
  if (line.program.setting("ARGOSY_SPARE_RANKS") == "1" && !survive)
    return Status::invalid_argument(
        "--spare_ranks 1 is for --on_rank_loss survive, where a spare takes the place of one process; a group that starts again "
        "as "
        "a whole has no use for it. Add --on_rank_loss survive, or leave it out");
  if (!survive) return {};
  if (line.mode == Mode::collective && line.to_kubernetes.empty() && line.collective.max_restarts == 0)
    return Status::invalid_argument(
        "--on_rank_loss survive starts a lost process again as often as --max_restart says, which is 0: add --max_restart N, or "
        "leave it out");
  if (line.mode != Mode::ps && line.to_kubernetes.empty()) return {};
  return Status::invalid_argument(
      "--on_rank_loss survive is for collective jobs, and this is a job with parameter servers, whose workers are started again "
      "by --max_restart alone; leave it out (--on_worker_loss says what servers do meanwhile)");
}

// What servers would find out when they have started; in a pod the one process says it itself.
Status check_servers(const CommandLine& line) {
  const bool here = line.to_kubernetes.empty();
  if (here && (line.mode != Mode::ps || is_pod_of_servers())) return {};
  const auto setting = [&line](const char* name) { return line.program.setting(name); };
  if (!here && setting("ARGOSY_REPLICAS") == "1") {
    return Status::unimplemented(
        "--to_kubernetes: manifests have no followers of servers (replicas=1); leave replicas out, and let the volume of "
        "directory keep the servers' state");
  }
  RETURN_IF_ERROR(
      check_kept_state({.directory = setting("ARGOSY_DIRECTORY"),
                        .durability = setting("ARGOSY_DURABILITY"),
                        .mem_limit_bytes = static_cast<uint64_t>(parse_bytes(setting("ARGOSY_MEM_LIMIT")).value_or(0)),
                        .replicas = setting("ARGOSY_REPLICAS") == "1",
                        .followers = setting("ARGOSY_FOLLOWERS")}));
  return here ? check_state_folder(setting("ARGOSY_DIRECTORY")) : Status();
}

Status check_settings(const CommandLine& line) {
  RETURN_IF_ERROR(check_rank_loss(line));
  return check_servers(line);
}

// In a container the program is found by its name.
std::vector<std::string> words_in_container(const TrainingProgram& program) {
  std::vector<std::string> words = program.command;
  if (program.kind == TrainingProgram::Kind::module) words.insert(words.begin(), "-m");
  if (program.kind != TrainingProgram::Kind::executable) words.insert(words.begin(), "python");
  return words;
}

Result<std::string> manifests_of(const CommandLine& line) {
  if (line.mode == Mode::collective)
    return Status::unimplemented(
        "--to_kubernetes is for jobs with parameter servers; a collective job is a PyTorchJob or a TrainJob "
        "of torch's runtime whose command is fleetrun, see docs/kubernetes.md");
  if (line.program.command.empty()) return Status::invalid_argument("--to_kubernetes: what is to be run? No script is given");
  KubernetesJob job{.servers = line.job.server_num.value_or(2),
                    .workers = line.job.worker_num.value_or(2),
                    .max_restarts = line.supervisor.max_restarts,
                    .program = words_in_container(line.program),
                    .environment = line.program.environment,
                    .section = line.kubernetes};
  job.environment.erase("ARGOSY_TOKEN");
  if (!line.job.servers.empty() || !line.job.workers.empty() || !line.job.hosts.empty())
    return Status::invalid_argument(
        "--to_kubernetes: --servers, --workers, --ips and --hostfile list machines; give --server_num and --worker_num");
  return kubernetes_manifests(line.to_kubernetes, job);
}

}  // namespace

std::string launch_help() {
  CommandLine line;
  const auto app = make_app(line);
  return app->help();
}

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  const auto app = make_app(line);
  ASSIGN_OR_RETURN(cli::Parsed parsed, cli::parse(*app, arguments));
  if (!parsed.text.empty()) line.text = std::move(parsed.text);
  if (!line.text.empty()) return line;
  line.program.command = std::move(parsed.rest);
  if (is_job_file(line.program)) RETURN_IF_ERROR(read_job_file(line));
  RETURN_IF_ERROR(take_variables(line));
  if (line.mode == Mode::unsaid && !line.job.hosts.empty()) line.mode = Mode::collective;
  line.supervisor.shrink = line.program.setting("ARGOSY_ON_WORKER_LOSS") == "shrink";
  line.collective.watch = line.watch;
  if (line.supervisor.max_restarts > 0)
    line.program.environment["ARGOSY_RESTARTS"] = std::to_string(line.supervisor.max_restarts);
  RETURN_IF_ERROR(check_settings(line));
  if (line.dump_config) {
    ASSIGN_OR_RETURN(line.text, job_file_text(line));
  }
  if (!line.to_kubernetes.empty()) {
    ASSIGN_OR_RETURN(line.text, manifests_of(line));
  }
  if (!line.text.empty()) return line;
  RETURN_IF_ERROR(take_slots(line));
  if (line.mode == Mode::unsaid) line.mode = line.collective.nodes.standalone ? Mode::collective : default_mode();
  RETURN_IF_ERROR(check_settings(line));
  return line;
}

std::string configuration_text(const CommandLine& line) {
  std::map<std::string, std::string> rows = {{"gpus", "None"},
                                             {"heter_worker_num", "None"},
                                             {"heter_workers", ""},
                                             {"http_port", "None"},
                                             {"ips", "127.0.0.1"},
                                             {"nproc_per_node", "None"},
                                             {"server_num", "None"},
                                             {"servers", ""},
                                             {"worker_num", "None"},
                                             {"workers", ""},
                                             {"log_dir", line.collective.log_dir}};
  for (const auto& [name, value] : line.given) rows[name] = value;
  std::vector<std::string> words = line.program.command;
  rows["training_script"] = words.empty() ? "" : words[0];
  if (!words.empty()) words.erase(words.begin());
  rows["training_script_args"] = python_list(words);
  std::string text = "-----------  Configuration Arguments -----------\n";
  for (const auto& [name, value] : rows) text += name + ":" + (value.empty() ? "" : " " + value) + "\n";
  return text + "------------------------------------------------\n";
}

}  // namespace argosy::launch
