#include "argosy/launch/command/add_flags.h"

#include <CLI/CLI.hpp>

#include "argosy/base/text.h"
#include "argosy/cli/program_arguments.h"
#include "argosy/launch/command/flags.h"

namespace argosy::launch {
namespace {

using Part = Flag::Part;

std::string group_of(const Flag& flag) {
  switch (flag.part) {
    case Part::collective: return "Collective jobs (options have dashes or underscores)";
    case Part::ps: return "Jobs with parameter servers";
    case Part::both: return "All jobs";
    case Part::refused: return "Options of PaddlePaddle that are refused, with what to do instead";
    case Part::setting: return "Settings of the job, which become ARGOSY_* variables of every process";
  }
  return "";
}

// The flag's kind of job becomes the line's, and must not be the other one.
Status set_kind(const Flag& flag, const std::string& name, CommandLine& line) {
  using Mode = CommandLine::Mode;
  if (flag.part != Part::ps && flag.part != Part::collective) return {};
  const Mode wanted = flag.part == Part::ps ? Mode::ps : Mode::collective;
  if (line.mode == Mode::unsaid) line.mode = wanted;
  if (line.mode == wanted) return {};
  const bool machines = line.collective.nodes.most || !line.collective.nodes.meeting.empty();
  return Status::invalid_argument("{} is for {}, and the options before it say the other; leave one out{}", name,
                                  wanted == Mode::ps ? "a job with parameter servers" : "a collective job",
                                  machines ? ", or list the processes of all machines with --servers and --workers" : "");
}

Status set_said(const Flag& flag, const std::string& name, const std::string& value, CommandLine& line) {
  const std::string bare = flag.names[0].substr(flag.names[0].find_first_not_of('-'));
  if (flag.part != Part::setting) line.given[bare] = value;
  return set_kind(flag, name, line);
}

}  // namespace

Status set_flag(const Flag& flag, const std::string& value, CommandLine& line) {
  RETURN_IF_ERROR(flag.set(line, value).with_context("option {}", flag.names[0]));
  return set_said(flag, flag.names[0], value, line);
}

Status set_flag(const Flag& flag, const EnvVariable& said, CommandLine& line) {
  RETURN_IF_ERROR(flag.set(line, said.value).with_context("environment variable {}", said.name));
  return set_said(flag, "environment variable " + said.to_string(), said.value, line);
}

void add_flags(CLI::App& app, CommandLine& line) {
  for (const Flag& flag : all_flags()) {
    const std::string names = join(flag.names, ",");
    const auto set = [&flag, &line](const std::string& value) {
      if (const Status status = set_flag(flag, value, line); !status.ok())
        throw CLI::ParseError(status.message(), cli::kUsageError);
    };
    CLI::Option* option = flag.argument.empty()
                              ? app.add_flag_callback(
                                    names, [set] { set("True"); }, flag.help)
                              : app.add_option_function<std::string>(names, set, flag.help)->type_name(flag.argument);
    option->trigger_on_parse()->group(group_of(flag));
  }
}

}  // namespace argosy::launch
