#include "argosy/launch/command_line.h"

#include <algorithm>
#include <cctype>

#include "argosy/base/env.h"
#include "argosy/base/log.h"
#include "argosy/base/place.h"
#include "argosy/base/said.h"
#include "argosy/base/text.h"
#include "argosy/launch/devices.h"
#include "argosy/launch/flags.h"

namespace argosy::launch {
namespace {

using Mode = CommandLine::Mode;

// "--worker-num" and "--worker_num" are one flag.
std::string normal_name(std::string_view word) {
  std::string name(word.substr(0, word.find('=')));
  if (name.starts_with("--")) std::replace(name.begin() + 2, name.end(), '-', '_');
  return name;
}

std::string bare_name(const Flag& flag) { return flag.names[0].substr(flag.names[0].find_first_not_of('-')); }

// The flag's kind of job becomes the line's, and must not be the other one.
Status set_kind(const Flag& flag, const std::string& name, CommandLine& line) {
  if (flag.part != Flag::Part::ps && flag.part != Flag::Part::collective) return {};
  const Mode wanted = flag.part == Flag::Part::ps ? Mode::ps : Mode::collective;
  if (line.mode == Mode::unsaid) line.mode = wanted;
  if (line.mode == wanted) return {};
  return Status::invalid_argument("{} is for {}, and the options before it say the other; leave one out", name,
                                  wanted == Mode::ps ? "a job with parameter servers" : "a collective job");
}

// Reads the option at `at`, and its value where that is a word of its own.
Status parse_option(const std::vector<std::string>& arguments, size_t& at, CommandLine& line) {
  const std::string& word = arguments[at++];
  const std::string name = normal_name(word);
  ASSIGN_OR_RETURN(const Flag* flag, find_flag(name));
  std::string value;
  if (const size_t equals = word.find('='); equals != std::string::npos) {
    if (flag->argument.empty()) return Status::invalid_argument("option {} takes no value", name);
    value = word.substr(equals + 1);
  } else if (!flag->argument.empty()) {
    if (at == arguments.size()) return Status::invalid_argument("option {} needs a value: {}", name, flag->argument);
    value = arguments[at++];
  }
  RETURN_IF_ERROR(flag->set(line, value).with_context("option {}", name));
  if (flag->part != Flag::Part::setting) line.given[bare_name(*flag)] = flag->argument.empty() ? "True" : value;
  return set_kind(*flag, name, line);
}

// torchrun takes the options that are not given from variables; PyTorchJob sets these.
Status take_torchrun_variables(CommandLine& line) {
  if (!variable("PET_NNODES") || line.mode == Mode::ps || line.collective.nodes.given()) return {};
  line.mode = Mode::collective;
  for (const char* option :
       {"nnodes", "node_rank", "nproc_per_node", "rdzv_endpoint", "rdzv_id", "master_addr", "master_port", "max_restart"}) {
    std::string name = std::string("PET_") + option + (std::string_view(option) == "max_restart" ? "s" : "");
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const MaybeSaid said = variable(name.c_str());
    if (!said || line.given.contains(option) || (name == "PET_MASTER_ADDR" && !line.collective.nodes.meeting.empty())) continue;
    ASSIGN_OR_RETURN(const Flag* flag, find_flag(std::string("--") + option));
    RETURN_IF_ERROR(flag->set(line, said->value).with_context("environment variable {}", name));
    line.given[option] = said->value;
  }
  return {};
}

bool is_one_of_several() {
  if (variable("PADDLE_PSERVERS_IP_PORT_LIST") || variable("PADDLE_PSERVER_IPS")) return false;  // of a job with servers
  if (has_cloud_nodes()) return true;
  const auto place = place_from_environment();
  return place.ok() && place->world_size > 1;
}

Mode default_mode() {
  if (variable("PADDLE_PSERVERS_IP_PORT_LIST") || variable("PADDLE_PSERVER_IPS")) return Mode::ps;  // a pod of such a job
  if (is_one_of_several()) return Mode::collective;
  const MaybeSaid device = variable("ARGOSY_DEVICE");
  const bool gpu = !(device && device->value == "cpu") && !visible_gpus().empty();
  log_warning("Not found distinct arguments and {} seen. Default use {} mode", gpu ? "a GPU is" : "no GPU is",
              gpu ? "collective" : "ps");
  return gpu ? Mode::collective : Mode::ps;
}

std::string python_list(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  quoted.reserve(words.size());
  for (const std::string& word : words) quoted.push_back("'" + word + "'");
  return fmt::format("[{}]", join(quoted, ", "));
}

std::string help_line(const Flag& flag) {
  constexpr size_t kColumn = 38;
  std::vector<std::string> names = flag.names;
  std::erase(names, "--seletected_gpus");
  const std::string left = "  " + join(names, ", ") + (flag.argument.empty() ? "" : " " + flag.argument);
  return left + (left.size() < kColumn ? std::string(kColumn - left.size(), ' ') : "\n" + std::string(kColumn, ' ')) + flag.help +
         "\n";
}

// The job's setting: the flag, or the variable that its processes inherit.
std::optional<std::string> on_worker_loss(const CommandLine& line) {
  const std::string variable = "ARGOSY_ON_WORKER_LOSS";
  const auto flag = line.program.environment.find(variable);
  return flag != line.program.environment.end() ? std::optional(flag->second) : env_text(variable.c_str());
}

}  // namespace

std::string launch_help() {
  std::string text =
      "Starts the processes of a training job on this machine, watches them, and ends with the first failure's status.\n\n"
      "  fleetrun --gpus=0,1 train.py --epochs 3             a process for each of two GPUs\n"
      "  fleetrun --nproc_per_node=2 train.py                two processes on the CPU\n"
      "  fleetrun --server_num=2 --worker_num=2 train.py     two parameter servers and two workers\n"
      "  fleetrun --nproc_per_node=2 --no-python ./train     the same for a program in C++\n\n"
      "On two machines, the same command on both:\n\n"
      "  fleetrun --ips=10.0.0.1,10.0.0.2 --gpus=0,1,2,3 train.py\n"
      "  fleetrun --nnodes=1:4 --rdzv_endpoint=10.0.0.1:29400 --max_restart=3 train.py    all but the first may come and go\n\n"
      "Each process finds its place in PADDLE_TRAINER_ID, PADDLE_TRAINERS_NUM, … and in RANK, WORLD_SIZE, MASTER_ADDR, …; what "
      "it\n"
      "writes goes to log/workerlog.N. Under mpirun, srun, torchrun or Kubernetes' PaddleJob and PyTorchJob, each launcher is\n"
      "a machine of the job. python -m paddle.distributed.launch and launch_ps are the same program.\n\n"
      "Usage: fleetrun [OPTIONS] SCRIPT [ARGUMENTS]\n";
  std::optional<Flag::Part> part;
  for (const Flag& flag : all_flags()) {
    const bool listed_with_ps = flag.names[0].starts_with("--heter") || flag.names[0] == "--http_port";
    const Flag::Part here = listed_with_ps ? Flag::Part::ps : flag.part;
    if (part != here) {
      part = here;
      text += here == Flag::Part::collective ? "\nCollective jobs (options have dashes or underscores):\n"
              : here == Flag::Part::ps       ? "\nJobs with parameter servers:\n"
              : here == Flag::Part::both     ? "\nAll jobs:\n"
                                             : "\nSettings of the job, which become ARGOSY_* variables of every process:\n";
    }
    text += help_line(flag);
  }
  return text;
}

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  size_t at = 0;
  while (at < arguments.size() && arguments[at].starts_with('-')) RETURN_IF_ERROR(parse_option(arguments, at, line));
  line.program.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end());
  if (line.help || line.settings) return line;
  RETURN_IF_ERROR(take_torchrun_variables(line));
  line.supervisor.shrink = on_worker_loss(line) == "shrink";
  if (line.supervisor.max_restarts > 0)
    line.program.environment["ARGOSY_RESTARTS"] = std::to_string(line.supervisor.max_restarts);
  if (line.mode == Mode::unsaid) line.mode = line.collective.nodes.standalone ? Mode::collective : default_mode();
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
