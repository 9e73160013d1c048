#pragma once

namespace CLI {
class App;
}

namespace argosy::apps {

// Whether the command line is `argosy convert` of data: it says --from. Without, it is of a saved model, which another program
// converts.
bool converts_data(int argc, char** argv);

// `argosy convert --from`: `result` gets the status to end with.
void add_convert(CLI::App& app, int& result);

}  // namespace argosy::apps
