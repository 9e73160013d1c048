#include "argosy/launch/command/flags.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>

#include "argosy/base/check.h"
#include "argosy/base/log.h"
#include "argosy/base/settings.h"
#include "argosy/base/text.h"
#include "argosy/base/uri.h"
#include "argosy/launch/command/host_slots.h"
#include "argosy/launch/command/refused_flags.h"

namespace argosy::launch {
namespace {

using Set = std::function<Status(CommandLine&, const std::string&)>;
using Part = Flag::Part;

template <typename Assign>
Set number(Assign assign, int least, int most = std::numeric_limits<int>::max()) {
  return [=](CommandLine& line, const std::string& text) -> Status {
    const auto value = parse_integer(text);
    if (!value || *value < least || *value > most)
      return Status::invalid_argument("found '{}', expected a whole number from {}", text, least);
    assign(line, static_cast<int>(*value));
    return {};
  };
}

Set port(std::optional<int> NodeOptions::* field) {
  return number([field](CommandLine& line, int value) { line.collective.nodes.*field = value; }, 1, 65535);
}

Result<std::vector<std::string>> list_in(const std::string& text, const char* expected) {
  std::vector<std::string> parts;
  for (const std::string& part : split(text, ',')) parts.emplace_back(trim(part));
  if (parts.empty()) return Status::invalid_argument("found nothing, expected {}", expected);
  if (std::find(parts.begin(), parts.end(), "") != parts.end())
    return Status::invalid_argument("found '{}', expected {}", text, expected);
  return parts;
}

template <typename Find>
Set list(Find find, const char* expected) {
  return [=](CommandLine& line, const std::string& text) -> Status {
    ASSIGN_OR_RETURN(auto parts, list_in(text, expected));
    find(line) = std::move(parts);
    return {};
  };
}

Set endpoints(std::vector<std::string> ServerJobOptions::* field) {
  return list([field](CommandLine& line) -> auto& { return line.job.*field; }, "host:port,host:port");
}

Set count(std::optional<int> ServerJobOptions::* field) {
  return number([field](CommandLine& line, int value) { line.job.*field = value; }, 1);
}

Set program_kind(TrainingProgram::Kind kind) {
  return [kind](CommandLine& line, const std::string&) { return line.program.kind = kind, Status(); };
}

Status set_mode(CommandLine& line, const std::string& text) {
  if (text != "ps" && text != "collective") return Status::invalid_argument("found '{}', expected ps or collective", text);
  const auto wanted = text == "ps" ? CommandLine::Mode::ps : CommandLine::Mode::collective;
  if (line.mode != CommandLine::Mode::unsaid && line.mode != wanted)
    return Status::invalid_argument("found '{}', and the options before it say the other; leave one out", text);
  line.mode = wanted;
  return {};
}

Status set_follow(CommandLine& line, const std::string& text) {
  const auto worker = parse_integer(text);
  if (!worker || *worker < 0 || *worker > 65535)
    return Status::invalid_argument("found '{}', expected a worker's number, from 0", text);
  line.supervisor.follow = fmt::format("worker {}", *worker);
  line.collective.follow = static_cast<int>(*worker);
  return {};
}

// "4", or "1:4": as many as are there, within these.
Status set_nodes(CommandLine& line, const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  const auto least = parse_integer(parts.empty() ? "" : parts.front()), most = parse_integer(parts.empty() ? "" : parts.back());
  if (parts.size() > 2 || !least || !most || *least < 1 || *most < *least || *most > 65535)
    return Status::invalid_argument("found '{}', expected a number of nodes, 4, or the least and the most, 1:4", text);
  line.collective.nodes.least = static_cast<int>(*least);
  line.collective.nodes.most = static_cast<int>(*most);
  return {};
}

Status set_backend(CommandLine&, const std::string& text) {
  if (text == "c10d" || text == "static") return {};
  return Status::unimplemented("found '{}'; nodes meet at the first one's launcher (c10d, static), without another service",
                               text);
}

Set seconds(double JobWatchOptions::* field, bool zero) {
  return [=](CommandLine& line, const std::string& text) {
    const auto value = parse_number(text);
    if (!value || *value >= 1e9 || !(*value > 0 || (zero && *value == 0)))
      return Status::invalid_argument("found '{}', expected seconds above 0{}", text, zero ? ", or 0" : "");
    return line.watch.*field = *value, Status();
  };
}

Status set_join_seconds(CommandLine& line, const std::string& text) {
  const auto seconds = parse_number(text);
  if (!seconds || !(*seconds > 0 && *seconds < 1e9))
    return Status::invalid_argument("found '{}', expected seconds above 0", text);
  line.collective.join_seconds = *seconds;
  return {};
}

Status set_machines(CommandLine& line, const std::string& text) {
  if (line.hosts) return Status::invalid_argument("found '{}', and --hostfile lists the machines already; leave one out", text);
  ASSIGN_OR_RETURN(line.collective.nodes.ips, list_in(text, "addresses such as 10.0.0.1,10.0.0.2"));
  line.job.hosts = line.collective.nodes.ips;
  return {};
}

Status set_print(CommandLine& line, const std::string& text) {
  if (text != "True" && text != "true" && text != "1" && text != "False" && text != "false" && text != "0")
    return Status::invalid_argument("found '{}', expected True or False", text);
  line.print_config = text == "True" || text == "true" || text == "1";
  return {};
}

Status set_level(CommandLine&, const std::string& text) {
  static const std::map<std::string, int> names = {{"NOTSET", 0},   {"DEBUG", 10}, {"INFO", 20},    {"WARN", 30},
                                                   {"WARNING", 30}, {"ERROR", 40}, {"CRITICAL", 50}};
  std::string upper = text;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const auto named = names.find(upper);
  const auto level = named != names.end() ? std::optional<int64_t>(named->second) : parse_integer(text);
  if (!level || *level < 0)
    return Status::invalid_argument("found '{}', expected DEBUG, INFO, WARNING, ERROR, or a whole number from 0", text);
  set_log_level(*level <= 10   ? LogLevel::debug
                : *level <= 20 ? LogLevel::info
                : *level <= 30 ? LogLevel::warning
                               : LogLevel::error);
  return {};
}

// Where the nodes meet, of which --master_addr and --master_port are the two parts.
Status set_meeting(CommandLine& line, const std::string& text) {
  std::string& meeting = line.collective.nodes.meeting;
  const std::string address = text.starts_with("http://") ? text.substr(7) : text;
  if (address.starts_with("etcd://")) {
    return Status::unimplemented("found '{}'; machines meet at the first one's launcher, without etcd: give its host:port", text);
  }
  if (!meeting.empty() && meeting != address)
    return Status::invalid_argument("found '{}', and '{}' before; leave one out", text, meeting);
  meeting = address;
  return {};
}

std::vector<Flag> collective_flags() {
  const auto nodes = [](auto assign) { return number([assign](CommandLine& l, int v) { assign(l.collective.nodes, v); }, 0); };
  return {
      {{"--gpus", "--selected_gpus", "--devices", kMisspelt},
       Part::collective,
       "LIST",
       "the GPUs, a process each (all); with ARGOSY_DEVICE=cpu as many processes on the CPU",
       list([](CommandLine& l) -> auto& { return l.collective.gpus; }, "numbers such as 0,1")},
      {{"--nproc_per_node"},
       Part::collective,
       "N|auto|gpu|cpu",
       "how many processes on this machine (one a GPU, or one)",
       [](CommandLine& l, const std::string& text) { return l.collective.processes = text, Status(); }},
      {{"--ips", "--cluster_node_ips"},
       Part::both,
       "LIST",
       "all machines of the job, comma-separated; run the same command on each. With servers, --server_num and --worker_num are "
       "of each",
       set_machines},
      {{"--hostfile", "--machinefile"},
       Part::both,
       "FILE",
       "the same as a file of mpirun's form, a line per machine: node1 slots=4 (slots: how many processes)",
       set_host_file},
      {{"--nnodes"},
       Part::collective,
       "N|MIN:MAX",
       "how many machines; with MIN:MAX all but the first may come and go",
       set_nodes},
      {{"--node_rank", "--rank"},
       Part::collective,
       "N",
       "this machine's number, from 0 (as they come)",
       nodes([](NodeOptions& n, int v) { n.node_rank = v; })},
      {{"--rdzv_endpoint", "--master"},
       Part::collective,
       "HOST[:PORT]",
       "the first machine, whose launcher listens there for the others (29400)",
       set_meeting},
      {{"--master_addr"}, Part::collective, "HOST", "the same in two parts: the host", set_meeting},
      {{"--master_port"}, Part::collective, "PORT", "and its port", port(&NodeOptions::meeting_port)},
      {{"--rdzv_backend"},
       Part::collective,
       "c10d|static",
       "as torchrun has it; both mean the first machine's launcher",
       set_backend},
      {{"--rdzv_timeout"}, Part::collective, "SECONDS", "how long machines wait for each other (600)", set_join_seconds},
      {{"--use_paddlecloud"},
       Part::collective,
       "",
       "machines from PADDLE_TRAINERS, POD_IP, PADDLE_TRAINER_ID, PADDLE_PORT and TRAINER_PORTS_NUM",
       [](CommandLine& l, const std::string&) { return l.collective.nodes.use_paddlecloud = true, Status(); }},
  };
}

// A folder that processes write as they go, which no store can be.
Set local_folder(Set set) {
  return [set = std::move(set)](CommandLine& line, const std::string& value) {
    if (is_uri(value)) return Status::invalid_argument("found '{}', expected a folder on a disk of this machine", value);
    return set(line, value);
  };
}

Set on_old_state(const char* choice) {
  return [choice](CommandLine& line, const std::string&) {
    std::string& chosen = line.program.environment["ARGOSY_ON_OLD_STATE"];
    if (!chosen.empty() && chosen != choice)
      return Status::invalid_argument("--resume goes on with what --directory holds, and --fresh begins anew; leave one out");
    return chosen = choice, Status();
  };
}

std::vector<Flag> ps_flags() {
  return {
      {{"--server_num"}, Part::ps, "N", "how many servers to start here (2)", count(&ServerJobOptions::server_num)},
      {{"--worker_num", "--trainer_num"},
       Part::ps,
       "N",
       "how many workers to start here (2)",
       count(&ServerJobOptions::worker_num)},
      {{"--servers", "--endpoints"},
       Part::ps,
       "LIST",
       "the servers' host:port, comma-separated; those of this machine are started",
       endpoints(&ServerJobOptions::servers)},
      {{"--workers", "--trainers"},
       Part::ps,
       "LIST",
       "the workers' host or host:port, likewise",
       endpoints(&ServerJobOptions::workers)},
      {{"--resume"}, Part::ps, "", "go on with the run that is in --directory", on_old_state("resume")},
      {{"--fresh"}, Part::ps, "", "begin anew where --directory holds a run, which is moved aside", on_old_state("fresh")},
  };
}

// How a job is shown while it runs.
std::vector<Flag> watch_flags() {
  return {
      {{"--quiet"},
       Part::both,
       "",
       "do not show how the job goes on: samples/s, loss, AUC, time left, processes alive",
       [](CommandLine& l, const std::string&) { return l.watch.quiet = true, Status(); }},
      {{"--progress_seconds"},
       Part::both,
       "SECONDS",
       "between two such lines where the output is no terminal (30)",
       seconds(&JobWatchOptions::line_seconds, false)},
      {{"--status_port"},
       Part::both,
       "PORT",
       "show the job in a browser, at this port of 127.0.0.1; 0: any free one (off)",
       number([](CommandLine& l, int v) { l.watch.status_port = v; }, 0, 65535)},
      {{"--status_host"},
       Part::both,
       "HOST",
       "the address of the status page instead; anybody who reaches it can read it",
       [](CommandLine& l, const std::string& v) { return l.watch.status_host = v, Status(); }},
      {{"--stall_seconds"},
       Part::both,
       "SECONDS",
       "without a batch of any worker before what all threads do is saved beside the logs; 0: never (600)",
       seconds(&JobWatchOptions::stall_seconds, true)},
      {{"--tensorboard"},
       Part::both,
       "FOLDER",
       "write loss, AUC, samples/s, tables and latencies as an event file for TensorBoard there (none)",
       local_folder([](CommandLine& l, const std::string& v) { return l.watch.tensorboard = v, Status(); })},
  };
}

std::vector<Flag> common_flags() {
  return {
      {{"--run_mode"}, Part::both, "ps|collective", "the kind of job, where no other option says it", set_mode},
      {{"--standalone"},
       Part::both,
       "",
       "a job of its own on this machine, whatever the environment says",
       [](CommandLine& l, const std::string&) { return l.collective.nodes.standalone = true, Status(); }},
      {{"--node_ip", "--host", "--local_addr"},
       Part::both,
       "HOST",
       "this machine's address, where the lists have several of its own or none",
       [](CommandLine& l, const std::string& v) { return l.job.node_ip = l.collective.nodes.node_ip = v, Status(); }},
      {{"--started_port", "--start_port"},
       Part::both,
       "PORT",
       "the first process's port; the others follow (6170, or the next free ones for servers; one collective machine: any free)",
       number([](CommandLine& l, int v) { l.collective.nodes.started_port = l.job.start_port = v; }, 1, 65535)},
      {{"--log_dir"},
       Part::both,
       "FOLDER",
       "where workerlog.N and serverlog.N go (log; with servers logs)",
       local_folder([](CommandLine& l, const std::string& v) { return l.job.log_dir = l.collective.log_dir = v, Status(); })},
      {{"--follow"}, Part::both, "N", "show what worker N of this machine writes, as it comes (collective: 0)", set_follow},
  };
}

// What is started, under which name, and what the launcher says of it.
std::vector<Flag> program_flags() {
  return {
      {{"--max_restart", "--max_restarts"},
       Part::both,
       "N",
       "how often a failed process, in a collective job all of them, are started again (0)",
       number([](CommandLine& l, int v) { l.supervisor.max_restarts = l.collective.max_restarts = v; }, 0)},
      {{"--no_python"},
       Part::both,
       "",
       "run the command itself instead of a Python script",
       program_kind(TrainingProgram::Kind::executable)},
      {{"-m", "--module"}, Part::both, "", "run a Python module: -m package.train", program_kind(TrainingProgram::Kind::module)},
      {{"--rdzv_id", "--job_id"},
       Part::both,
       "TEXT",
       "the job's name, as --job",
       [](CommandLine& l, const std::string& v) { return l.program.environment["ARGOSY_JOB"] = v, Status(); }},
      {{"--print_config"}, Part::both, "True|False", "print the options of a collective job (True)", set_print},
      {{"--log_level"},
       Part::both,
       "LEVEL",
       "of the launcher's own lines, as Python names or numbers them: DEBUG 10, INFO 20, WARNING 30, ERROR 40 (INFO)",
       set_level},
      {{"--dump_config"},
       Part::both,
       "",
       "print the job as a job file (fleetrun job.yaml) instead of running it",
       [](CommandLine& l, const std::string&) { return l.dump_config = true, Status(); }},
      {{"--to_kubernetes"},
       Part::both,
       "KIND",
       "print the manifests of a job with servers instead of running it: jobset, trainer or paddlejob",
       [](CommandLine& l, const std::string& v) { return l.to_kubernetes = v, Status(); }},
      {{"--settings"},
       Part::both,
       "",
       "print the settings below with their variables, in Markdown",
       [](CommandLine& l, const std::string&) { return l.text = settings_document(), Status(); }},
  };
}

Flag setting_flag(const Setting& setting) {
  return {{"--" + setting.name},
          Part::setting,
          setting.argument(),
          setting.help + (setting.default_value.empty() ? "" : fmt::format(" (default: {})", setting.default_value)),
          [&setting](CommandLine& line, const std::string& value) -> Status {
            RETURN_IF_ERROR(setting.check(value));
            line.program.environment[setting.variable()] = value;
            return {};
          }};
}

}  // namespace

const std::vector<Flag>& all_flags() {
  static const std::vector<Flag>& all = *[] {
    auto* made = new std::vector<Flag>(collective_flags());
    for (const auto& more : {ps_flags(), common_flags(), watch_flags(), program_flags(), refused_flags()})
      made->insert(made->end(), more.begin(), more.end());
    for (const Setting& setting : all_settings()) made->push_back(setting_flag(setting));
    return made;
  }();
  return all;
}

const Flag& flag_named(const std::string& name) {
  const auto& all = all_flags();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Flag& flag) { return flag.names[0] == name; });
  ARGOSY_CHECK(found != all.end(), "an option of the table");
  return *found;
}

}  // namespace argosy::launch
