// The program argosy-predict: the commands of `argosy` that need libtorch. `argosy serve …` starts it as `argosy-predict serve
// …`.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <string_view>

#include "argosy/cli/program_arguments.h"
#include "argosy/serve/command/commands.h"

namespace {

// --help and --version; another option is a usage error.
std::optional<int> answer_option(int argc, char** argv) {
  CLI::App app(
      "The commands of argosy that need libtorch: serve and check-online.\n\n"
      "  argosy-predict serve MODEL                  as `argosy serve MODEL`\n"
      "  argosy-predict check-online MODEL MODEL     as `argosy check-online MODEL MODEL`\n",
      "argosy-predict");
  argosy::cli::add_common_options(app);
  return argosy::cli::parse_or_exit(app, argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "serve") return argosy::serve::serve_command(argc - 1, argv + 1);
  if (command == "check-online") return argosy::serve::check_command(argc - 1, argv + 1);
  if (command.starts_with('-')) {
    if (const auto status = answer_option(argc, argv)) return *status;
  }
  std::fprintf(stderr, "argosy-predict: there is no command '%s'; `argosy --help` lists them\n", argc > 1 ? argv[1] : "");
  return argosy::cli::kUsageError;
}
