#pragma once

namespace CLI {
class App;
}

// The commands of `argosy` that show and end jobs: status, stop, report, doctor. `result` becomes the program's exit status, and
// must outlive `app`.
void add_observe_commands(CLI::App& app, int& result);
