#include "argosy/apps/inspect_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "argosy/inspect/inspect.h"

namespace argosy::apps {
namespace {

struct InspectArguments {
  std::string path, other;
  bool raw = false;
};

int fail(const Status& status) {
  std::fflush(stdout);
  std::fprintf(stderr, "argosy: %s\n", status.message().c_str());
  return 1;
}

int run(const InspectArguments& arguments) {
  if (!arguments.other.empty()) {
    const auto difference = inspect::compare(arguments.path, arguments.other);
    if (!difference.ok()) return fail(difference.status());
    std::fputs(difference->text.c_str(), stdout);
    return difference->equal ? 0 : 1;
  }
  const auto text = arguments.raw ? inspect::raw_text(arguments.path) : inspect::summary(arguments.path);
  if (!text.ok()) return fail(text.status());
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace

void add_inspect(CLI::App& app, int& result) {
  auto* command = app.add_subcommand("inspect",
                                     "Says what a saved model, a folder of parameters, a tensor file, a snapshot or a job's "
                                     "directory holds, and what it was trained on.");
  auto arguments = std::make_shared<InspectArguments>();
  command->add_option("path", arguments->path, "a model's folder or file, or one of the others")->required();
  auto* raw = command->add_flag("--raw", arguments->raw, "the whole program of a model, as text");
  command->add_option("--diff", arguments->other, "another one: what differs, with status 1 where something does")->excludes(raw);
  command->callback([arguments, &result] { result = run(*arguments); });
}

}  // namespace argosy::apps
