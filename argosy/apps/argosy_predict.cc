// The program argosy-predict: the commands of `argosy` that need libtorch. `argosy serve …` starts it as `argosy-predict serve
// …`.
#include <cstdio>
#include <string_view>

#include "argosy/cli/program_arguments.h"
#include "argosy/serve/command/commands.h"

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "serve") return argosy::serve::serve_command(argc - 1, argv + 1);
  if (command == "check-online") return argosy::serve::check_command(argc - 1, argv + 1);
  std::fprintf(stderr, "argosy-predict: there is no command '%s'; `argosy --help` lists them\n", argc > 1 ? argv[1] : "");
  return argosy::cli::kUsageError;
}
