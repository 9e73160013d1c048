#pragma once

namespace CLI {
class App;
}

namespace argosy::apps {

// `argosy rows`: `result` gets the status to end with.
void add_rows(CLI::App& app, int& result);
// And `argosy versions`.
void add_versions(CLI::App& app, int& result);

}  // namespace argosy::apps
