#include "argosy/launch/command_line.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "argosy/base/settings.h"
#include "argosy/base/text.h"

namespace argosy::launch {
namespace {

using Set = std::function<Status(CommandLine&, const std::string&)>;

// One row a flag: its names (the first is shown), its argument for the help (empty: a switch), the help, and what it sets.
struct Flag {
  std::vector<std::string> names;
  std::string argument, help;
  Set set;
};

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

// Of a flag that says that this is a parameter-server job.
Set list(std::vector<std::string> JobOptions::* field) {
  return [field](CommandLine& line, const std::string& text) -> Status {
    line.mode = "ps";
    for (const std::string& part : split(text, ',')) (line.job.*field).emplace_back(trim(part));
    if ((line.job.*field).empty()) return Status::invalid_argument("found nothing, expected host:port,host:port");
    return {};
  };
}

Set count(std::optional<int> JobOptions::* field) {
  return number(
      [field](CommandLine& line, int value) {
        line.mode = "ps";
        line.job.*field = value;
      },
      1);
}

Set text(std::string JobOptions::* field) {
  return [field](CommandLine& line, const std::string& value) { return line.job.*field = value, Status(); };
}

Set set_switch(bool CommandLine::* field) {
  return [field](CommandLine& line, const std::string&) { return line.*field = true, Status(); };
}

Status set_mode(CommandLine& line, const std::string& text) {
  if (text != "ps") return Status::unimplemented("found '{}'; only 'ps' (parameter server) is there yet", text);
  line.mode = text;
  return {};
}

Status set_follow(CommandLine& line, const std::string& text) {
  const auto worker = parse_integer(text);
  if (!worker || *worker < 0) return Status::invalid_argument("found '{}', expected a worker's number, from 0", text);
  line.supervisor.follow = fmt::format("worker {}", *worker);
  return {};
}

std::vector<Flag> own_flags() {
  return {
      {{"--server_num"}, "N", "how many servers to start here (2)", count(&JobOptions::server_num)},
      {{"--worker_num", "--trainer_num"}, "N", "how many workers to start here (2)", count(&JobOptions::worker_num)},
      {{"--servers", "--endpoints"},
       "LIST",
       "the servers' host:port, comma-separated; those of this machine are started",
       list(&JobOptions::servers)},
      {{"--workers", "--trainers"}, "LIST", "the workers' host or host:port, likewise", list(&JobOptions::workers)},
      {{"--node_ip", "--host"}, "HOST", "of the two lists, start what has this host", text(&JobOptions::node_ip)},
      {{"--start_port", "--started_port"},
       "PORT",
       "the first server's port; the others follow (6170)",
       number([](CommandLine& l, int v) { l.job.start_port = v; }, 1, 65535)},
      {{"--log_dir"}, "FOLDER", "where serverlog.N and workerlog.N go (logs)", text(&JobOptions::log_dir)},
      {{"--follow"}, "N", "show what worker N writes, as it comes", set_follow},
      {{"--max_restart", "--max_restarts"},
       "N",
       "how often a process that failed is started again (0)",
       number([](CommandLine& l, int v) { l.supervisor.max_restarts = v; }, 0)},
      {{"--run_mode"}, "MODE", "ps: a parameter-server job", set_mode},
      {{"--no_python"},
       "",
       "run the command itself instead of a Python script",
       [](CommandLine& l, const std::string&) { return l.job.no_python = true, Status(); }},
      {{"--settings"}, "", "print the settings below with their variables, in Markdown", set_switch(&CommandLine::settings)},
      {{"--help", "-h"}, "", "this text", set_switch(&CommandLine::help)},
  };
}

Flag setting_flag(const Setting& setting) {
  return {{"--" + setting.name},
          setting.argument(),
          setting.help + (setting.standard.empty() ? "" : fmt::format(" ({})", setting.standard)),
          [&setting](CommandLine& line, const std::string& value) -> Status {
            RETURN_IF_ERROR(setting.check(value));
            line.job.environment[setting.variable()] = value;
            return {};
          }};
}

const std::vector<Flag>& flags() {
  static const std::vector<Flag>& all = *[] {
    auto* made = new std::vector<Flag>(own_flags());
    for (const Setting& setting : all_settings()) made->push_back(setting_flag(setting));
    return made;
  }();
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
  return flag->set(line, value).with_context("option {}", name);
}

}  // namespace

std::string launch_help() {
  std::string text =
      "Starts the servers and workers of a training job on this machine, watches them, and ends with the first failure's "
      "status.\n\n"
      "  fleetrun --server_num=2 --worker_num=2 train.py --epochs 3\n"
      "  fleetrun --server_num=2 --worker_num=2 --no-python ./ctr_dnn 'data/part-*'\n\n"
      "Usage: fleetrun [OPTIONS] SCRIPT [ARGUMENTS]\n\nOptions, with dashes or underscores:\n";
  const size_t own = flags().size() - all_settings().size();
  for (size_t i = 0; i < flags().size(); ++i) {
    const Flag& flag = flags()[i];
    if (i == own) text += "\nSettings of the job, which become ARGOSY_* variables of every process:\n";
    const std::string left = join(flag.names, ", ") + (flag.argument.empty() ? "" : " " + flag.argument);
    text += fmt::format("  {}{}{}\n", left, left.size() < 36 ? std::string(36 - left.size(), ' ') : "\n" + std::string(38, ' '),
                        flag.help);
  }
  return text;
}

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  size_t at = 0;
  while (at < arguments.size() && arguments[at].starts_with("-")) RETURN_IF_ERROR(parse_option(arguments, at, line));
  line.job.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end());
  if (line.mode.empty() && !line.help && !line.settings) {
    return Status::invalid_argument(
        "say what to start: --server_num and --worker_num, or --servers and --workers, for a parameter-server job; see --help");
  }
  return line;
}

}  // namespace argosy::launch
