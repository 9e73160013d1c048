#pragma once

namespace CLI {
class App;
}

namespace argosy::apps {

// Whether the command line names a file that Python or libtorch has written, which Python reads (argosy.framework.describe).
bool inspects_state(int argc, char** argv);

// `argosy inspect` of everything else: `result` gets the status to end with.
void add_inspect(CLI::App& app, int& result);

}  // namespace argosy::apps
