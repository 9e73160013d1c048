#pragma once

#include <optional>
#include <string>
#include <vector>

#include "argosy/base/status.h"

namespace CLI {
class App;
}

// How every program of this project reads its command line: with CLI11, and alike where that leaves it open.
namespace argosy::cli {

// The status with which a program ends whose command line is wrong.
inline constexpr int kUsageError = 2;

// What a command line asks for besides what it has set.
struct Parsed {
  std::string text;               // the help or the version: shown instead of doing anything; empty: neither
  std::vector<std::string> rest;  // from the first word on that is not an option, where the program takes a command
};

// Adds --help and --version, which every program has.
void add_common_options(CLI::App& app);

// Reads `arguments`, without the program's name, as the options of `app`.
//
// Options may be written with dashes or underscores ("--log-dir", "--log_dir"), with their value as the next word or after "=",
// and the value may be empty. REQUIRES: `app` declares them with underscores. One that there is not is an error that offers the
// nearest. An app with prefix_command() takes a command: everything from the first word on that is not an option is left alone.
Result<Parsed> parse(CLI::App& app, const std::vector<std::string>& arguments);

// The same for main(): shows what is to be shown. A value is the status to end with. An ARGOSY_* variable that does not exist is
// an error too, before any subcommand runs, but for `lenient`, which looks at the variables itself.
std::optional<int> parse_or_exit(CLI::App& app, int argc, char** argv, const std::string& lenient = "");

}  // namespace argosy::cli
