#include "argosy/launch/command/add_flags.h"

#include <CLI/CLI.hpp>

#include "argosy/base/text.h"
#include "argosy/cli/program_arguments.h"
#include "argosy/launch/command/flags.h"

namespace argosy::launch {
namespace {

using Part = Flag::Part;

// The flag's kind of job becomes the line's, and must not be the other one.
Status set_kind(const Flag& flag, CommandLine& line) {
  using Mode = CommandLine::Mode;
  if (flag.part != Part::ps && flag.part != Part::collective) return {};
  const Mode wanted = flag.part == Part::ps ? Mode::ps : Mode::collective;
  if (line.mode == Mode::unsaid) line.mode = wanted;
  if (line.mode == wanted) return {};
  return Status::invalid_argument("{} is for {}, and the options before it say the other; leave one out", flag.names[0],
                                  wanted == Mode::ps ? "a job with parameter servers" : "a collective job");
}

Status apply(const Flag& flag, const std::string& value, CommandLine& line) {
  RETURN_IF_ERROR(flag.set(line, value).with_context("option {}", flag.names[0]));
  const std::string bare = flag.names[0].substr(flag.names[0].find_first_not_of('-'));
  if (flag.part != Part::setting) line.given[bare] = value;
  return set_kind(flag, line);
}

std::string group_of(const Flag& flag) {
  const bool listed_with_ps = flag.names[0].starts_with("--heter") || flag.names[0] == "--http_port";
  switch (listed_with_ps ? Part::ps : flag.part) {
    case Part::collective: return "Collective jobs (options have dashes or underscores)";
    case Part::ps: return "Jobs with parameter servers";
    case Part::both: return "All jobs";
    case Part::setting: return "Settings of the job, which become ARGOSY_* variables of every process";
  }
  return "";
}

}  // namespace

void add_flags(CLI::App& app, CommandLine& line) {
  for (const Flag& flag : all_flags()) {
    const std::string names = join(flag.names, ",");
    const auto set = [&flag, &line](const std::string& value) {
      if (const Status status = apply(flag, value, line); !status.ok()) throw CLI::ParseError(status.message(), cli::kUsageError);
    };
    CLI::Option* option = flag.argument.empty()
                              ? app.add_flag_callback(
                                    names, [set] { set("True"); }, flag.help)
                              : app.add_option_function<std::string>(names, set, flag.help)->type_name(flag.argument);
    option->trigger_on_parse()->group(group_of(flag));
  }
}

}  // namespace argosy::launch
