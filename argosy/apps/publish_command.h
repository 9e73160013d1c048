#pragma once

namespace CLI {
class App;
}

namespace argosy::apps {

// `argosy publish`: `result` gets the status to end with.
void add_publish(CLI::App& app, int& result);

}  // namespace argosy::apps
