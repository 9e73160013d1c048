#pragma once

#include <optional>

namespace CLI {
class App;
}

// The commands of `argosy` that are programs of their own, because they need what `argosy` does without to start at once.
namespace argosy::apps {

// Lists them in the help of `app`.
void add_other_programs(CLI::App& app);

// Where argv[1] is one of them, becomes that program; a value is the status to end with where it cannot be started.
std::optional<int> become_other_program(int argc, char** argv);

}  // namespace argosy::apps
