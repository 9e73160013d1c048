#pragma once

namespace CLI {
class App;
}

namespace argosy::apps {

// `argosy arbiter`: `result` gets the status to end with.
void add_arbiter(CLI::App& app, int& result);

}  // namespace argosy::apps
