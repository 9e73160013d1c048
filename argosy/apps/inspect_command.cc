#include "argosy/apps/inspect_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "argosy/data/working_folder.h"
#include "argosy/inspect/inspect.h"
#include "argosy/ps/server/snapshot_ledger.h"

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

// In an object store a folder is what it says of its copy, with the place's name.
int run(const InspectArguments& arguments) {
  const auto folder = data::WorkingFolder::for_reading(arguments.path);
  if (!folder.ok()) return fail(folder.status());
  const std::string path = folder->path().string();
  if (!arguments.other.empty()) {
    const auto other = data::WorkingFolder::for_reading(arguments.other);
    if (!other.ok()) return fail(other.status());
    const auto difference = inspect::compare(path, other->path());
    if (!difference.ok()) return fail(difference.status());
    std::fputs(difference->text.c_str(), stdout);
    return difference->equal ? 0 : 1;
  }
  const auto text = arguments.raw ? inspect::raw_text(path) : inspect::summary(path);
  if (!text.ok()) return fail(text.status());
  const auto ledger = arguments.raw ? Result<std::string>(std::string()) : ps::snapshot_ledger(path);
  if (!ledger.ok()) return fail(ledger.status());
  std::string shown = ledger->empty() ? *text : *text + "ledger:\n" + *ledger + "\n";
  for (size_t at = 0; path != arguments.path && (at = shown.find(path, at)) != std::string::npos; at += arguments.path.size())
    shown.replace(at, path.size(), arguments.path);
  std::fputs(shown.c_str(), stdout);
  return 0;
}

}  // namespace

bool inspects_state(int argc, char** argv) {
  for (int i = 2; i < argc; ++i) {
    std::error_code error;
    const std::string word = argv[i];
    const std::string path = word.starts_with("--diff=") ? word.substr(7) : word;
    if (!std::filesystem::is_regular_file(path, error)) continue;
    char first[4] = {};
    std::ifstream(path, std::ios::binary).read(first, sizeof first);
    const bool pickle = first[0] == '\x80' && first[1] >= 2 && first[1] <= 5;
    if (pickle || std::string_view(first, 4) == "PK\x03\x04") return true;
  }
  return false;
}

void add_inspect(CLI::App& app, int& result) {
  auto* command =
      app.add_subcommand("inspect",
                         "Says what a saved model, a folder of parameters, a tensor file, a checkpoint, a snapshot or a "
                         "job's directory holds, and what it was trained on.");
  auto arguments = std::make_shared<InspectArguments>();
  command
      ->add_option("path", arguments->path,
                   "a model's folder or file, or one of the others; of an object store (s3://bucket/model) a folder")
      ->required();
  auto* raw = command->add_flag("--raw", arguments->raw, "the whole program of a model, as text");
  command->add_option("--diff", arguments->other, "another one: what differs, with status 1 where something does")->excludes(raw);
  command->callback([arguments, &result] { result = run(*arguments); });
}

}  // namespace argosy::apps
