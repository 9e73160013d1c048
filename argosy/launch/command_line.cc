#include "argosy/launch/command_line.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "argosy/base/text.h"

namespace argosy::launch {
namespace {

// One row a flag: its names (the first is shown), its argument for the help (empty: a switch), the help, and what it sets.
struct Flag {
  std::vector<std::string> names;
  std::string argument, help;
  std::function<Status(CommandLine&, const std::string&)> set;
};

Result<int> whole_number(const std::string& text, int least, int most = std::numeric_limits<int>::max()) {
  const auto value = parse_integer(text);
  if (!value || *value < least || *value > most)
    return Status::invalid_argument("found '{}', expected a whole number from {}", text, least);
  return static_cast<int>(*value);
}

template <typename Set>
std::function<Status(CommandLine&, const std::string&)> number(Set set, int least, int most = std::numeric_limits<int>::max()) {
  return [=](CommandLine& line, const std::string& text) -> Status {
    ASSIGN_OR_RETURN(const int value, whole_number(text, least, most));
    set(line, value);
    return {};
  };
}

Status set_servers(CommandLine& line, const std::string& text) {
  line.job.servers = split(text, ',');
  line.job.server_num = static_cast<int>(line.job.servers.size());
  return {};
}

Status set_workers(CommandLine& line, const std::string& text) {
  line.job.workers = split(text, ',');
  line.job.worker_num = static_cast<int>(line.job.workers.size());
  return {};
}

Status set_mode(CommandLine&, const std::string& text) {
  if (text == "ps") return {};
  return Status::unimplemented("found '{}'; only 'ps' (parameter server) is there yet", text);
}

const std::vector<Flag>& flags() {
  static const std::vector<Flag>& all = *new std::vector<Flag>{
      {{"--server_num"},
       "N",
       "how many servers to start here (2)",
       number([](CommandLine& l, int v) { l.job.server_num = v; }, 1)},
      {{"--worker_num", "--trainer_num"},
       "N",
       "how many workers to start here (2)",
       number([](CommandLine& l, int v) { l.job.worker_num = v; }, 1)},
      {{"--servers", "--endpoints"}, "LIST", "the servers' host:port, comma-separated, instead of --server_num", set_servers},
      {{"--workers", "--trainers"}, "LIST", "the workers' host:port, comma-separated, instead of --worker_num", set_workers},
      {{"--start_port", "--started_port"},
       "PORT",
       "the first server's port; the others follow (6170)",
       number([](CommandLine& l, int v) { l.job.start_port = v; }, 1, 65535)},
      {{"--log_dir"},
       "FOLDER",
       "where serverlog.N and workerlog.N go (logs)",
       [](CommandLine& l, const std::string& v) { return l.job.log_dir = v, Status(); }},
      {{"--max_restart", "--max_restarts"},
       "N",
       "how often a process that failed is started again (0)",
       number([](CommandLine& l, int v) { l.supervisor.max_restarts = v; }, 0)},
      {{"--run_mode"}, "MODE", "ps", set_mode},
      {{"--no_python"},
       "",
       "run the command itself instead of a Python script",
       [](CommandLine& l, const std::string&) { return l.job.no_python = true, Status(); }},
      {{"--help", "-h"}, "", "this text", [](CommandLine& l, const std::string&) { return l.help = true, Status(); }},
  };
  return all;
}

// "--worker-num" and "--worker_num" are one flag.
std::string normal_name(std::string_view word) {
  std::string name(word.substr(0, word.find('=')));
  if (name.starts_with("--")) std::replace(name.begin() + 2, name.end(), '-', '_');
  return name;
}

Result<const Flag*> find_flag(const std::string& name) {
  std::vector<std::string> known;
  for (const Flag& flag : flags()) {
    if (std::find(flag.names.begin(), flag.names.end(), name) != flag.names.end()) return &flag;
    known.insert(known.end(), flag.names.begin(), flag.names.end());
  }
  const auto near = nearest_name(name, known);
  return Status::invalid_argument("there is no option {}{}; see --help", name,
                                  near ? fmt::format(", did you mean {}?", *near) : "");
}

}  // namespace

std::string launch_help() {
  std::string text =
      "Starts the servers and workers of a training job on this machine, watches them, and ends with the first failure's "
      "status.\n\n"
      "  fleetrun --server_num=2 --worker_num=2 train.py --epochs 3\n"
      "  fleetrun --server_num=2 --worker_num=2 --no-python ./ctr_dnn 'data/part-*'\n\n"
      "Usage: fleetrun [OPTIONS] SCRIPT [ARGUMENTS]\n\nOptions, with dashes or underscores:\n";
  for (const Flag& flag : flags())
    text += fmt::format("  {:<34} {}\n", join(flag.names, ", ") + (flag.argument.empty() ? "" : " " + flag.argument), flag.help);
  return text;
}

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  size_t at = 0;
  while (at < arguments.size() && arguments[at].starts_with("-")) {
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
  }
  line.job.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end());
  return line;
}

}  // namespace argosy::launch
