#pragma once

namespace CLI {
class App;
}

namespace argosy::apps {

// `argosy word2vec-eval`: `result` gets the status to end with.
void add_word2vec_eval(CLI::App& app, int& result);

}  // namespace argosy::apps
