#include "argosy/apps/other_programs.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/apps/convert_command.h"
#include "argosy/apps/inspect_command.h"
#include "argosy/base/settings.h"
#include "argosy/cli/program_arguments.h"
#include "argosy/launch/process/interpreter.h"

namespace argosy::apps {
namespace {

struct OtherProgram {
  const char* command;
  std::vector<std::string> program;  // and its first words; the program lies beside this one, or is a Python that has the package
  const char* help;
};

constexpr const char* kPython = "python";

const OtherProgram kPrograms[] = {
    {"serve", {"argosy-predict", "serve"}, "Serves a saved model over HTTP."},
    {"convert", {kPython, "-m", "argosy.serve.convert"}, ""},  // of a saved model: convert_command.h has the help of both
    {"inspect", {kPython, "-m", "argosy.framework.describe"}, ""},  // of files that Python writes: inspects_state()
    {"check-online",
     {"argosy-predict", "check-online"},
     "Says whether two models, saved or served, predict the same, and where they do not."},
};

}  // namespace

void add_other_programs(CLI::App& app) {
  for (const OtherProgram& other : kPrograms) {
    if (other.help[0] != '\0') app.add_subcommand(other.command, other.help);
  }
}

std::optional<int> become_other_program(int argc, char** argv) {
  if (converts_data(argc, argv)) return std::nullopt;
  if (argc > 1 && std::strcmp(argv[1], "inspect") == 0 && !inspects_state(argc, argv)) return std::nullopt;
  for (const OtherProgram& other : kPrograms) {
    if (argc < 2 || std::strcmp(argv[1], other.command) != 0) continue;
    std::vector<std::string> words = other.program;
    std::error_code error;
    if (const Status known = check_variable_names(); !known.ok()) {
      std::fprintf(stderr, "argosy: %s\n", known.message().c_str());
      return cli::kUsageError;
    }
    if (words[0] == kPython)
      words[0] = launch::find_python(argv[0]);
    else
      words[0] = (std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / words[0]).string();
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    for (int i = 2; i <= argc; ++i) pointers.push_back(argv[i]);  // with the null at the end
    ::execvp(pointers[0], pointers.data());
    std::fprintf(stderr, "argosy: cannot start '%s' for `argosy %s`: %s\n", pointers[0], other.command, std::strerror(errno));
    return 1;
  }
  return std::nullopt;
}

}  // namespace argosy::apps
