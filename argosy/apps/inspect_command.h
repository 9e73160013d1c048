#pragma once

namespace CLI {
class App;
}

namespace argosy::apps {

// `argosy inspect`: `result` gets the status to end with.
void add_inspect(CLI::App& app, int& result);

}  // namespace argosy::apps
