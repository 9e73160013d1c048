// The program `argosy`: small tools around training. Starts in milliseconds, for it links no torch.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>

#include "argosy/apps/arbiter_command.h"
#include "argosy/apps/convert_command.h"
#include "argosy/apps/inspect_command.h"
#include "argosy/apps/observe_commands.h"
#include "argosy/apps/other_programs.h"
#include "argosy/apps/publish_command.h"
#include "argosy/apps/rows_command.h"
#include "argosy/apps/word2vec_command.h"
#include "argosy/base/text.h"
#include "argosy/cli/checks.h"
#include "argosy/cli/program_arguments.h"
#include "argosy/data/criteo.h"
#include "argosy/ps/server/repair.h"
#include "argosy/ps/server/reshard.h"

namespace {

using argosy::Status;

int report(const Status& status) {
  if (status.ok()) return 0;
  std::fprintf(stderr, "argosy: %s\n", status.message().c_str());
  return 1;
}

void print(const argosy::ps::RepairReport& report) {
  std::printf("%s: %s records of the log can be applied, %zu cannot\n", report.directory.c_str(),
              argosy::with_thousands(static_cast<int64_t>(report.records)).c_str(), report.problems.size());
  for (const std::string& note : report.notes) std::printf("  note: %s\n", note.c_str());
  for (const auto& problem : report.problems) {
    std::printf("  %s, position %llu (%s, %llu bytes): %s\n", problem.file.c_str(),
                static_cast<unsigned long long>(problem.position), problem.what.c_str(),
                static_cast<unsigned long long>(problem.bytes), problem.reason.c_str());
    if (!problem.moved_to.empty()) std::printf("    moved to %s\n", problem.moved_to.c_str());
  }
}

// 1 while something is left that keeps a server from starting.
int repair(const std::string& directory, bool set_aside) {
  const auto reports = argosy::ps::repair(directory, set_aside);
  if (!reports.ok()) return report(reports.status());
  bool left = false;
  for (const auto& one : *reports) {
    print(one);
    left |= !one.problems.empty() && !set_aside;
  }
  if (left)
    std::printf("argosy repair --set-aside %s moves them out of the log; the job goes on without them\n", directory.c_str());
  return left ? 1 : 0;
}

void add_repair(CLI::App& app, int& result) {
  auto* command =
      app.add_subcommand("repair", "Lists what keeps servers from starting on a directory, and moves it out of the way.");
  auto directory = std::make_shared<std::string>();
  auto set_aside = std::make_shared<bool>(false);
  command->add_option("directory", *directory, "of a job (--directory) or of one of its servers; no server may be using it")
      ->required();
  command->add_flag("--set_aside", *set_aside,
                    "move records that cannot be read or applied into files beside the log; nothing is removed");
  command->callback([directory, set_aside, &result] { result = repair(*directory, *set_aside); });
}

void add_criteo(CLI::App& app, int& result) {
  auto* command =
      app.add_subcommand("criteo", "Criteo's tab-separated text on stdin becomes MultiSlot text on stdout: a pipe command.");
  auto options = std::make_shared<argosy::data::CriteoOptions>();
  command->add_option("hash_dim", options->hash_dim, "ids are taken modulo this number")
      ->required()
      ->check(argosy::cli::whole_number(1, std::numeric_limits<int64_t>::max()));
  const std::map<std::string, argosy::data::CriteoScheme> schemes = {{"span", argosy::data::CriteoScheme::span},
                                                                     {"log1p", argosy::data::CriteoScheme::log1p}};
  command->add_option("--scheme", options->scheme, "how numbers are scaled and ids made: span (default) or log1p")
      ->transform(CLI::CheckedTransformer(schemes, CLI::ignore_case));
  auto max_bad_lines = std::make_shared<int64_t>(0);
  command
      ->add_option("--max_bad_lines", *max_bad_lines,
                   "so many malformed lines are left out, each with a warning; one more is an error (0)")
      ->check(argosy::cli::whole_number(0, std::numeric_limits<int64_t>::max()));
  command->callback([options, max_bad_lines, &result] {
    result = report(argosy::data::criteo_to_multislot(STDIN_FILENO, STDOUT_FILENO, *options, *max_bad_lines));
  });
}

void add_reshard(CLI::App& app, int& result) {
  auto* command = app.add_subcommand(
      "reshard",
      "Deals the state of a parameter-server run out to another number of servers or workers, for --resume. What "
      "was there is moved aside.");
  auto directory = std::make_shared<std::string>();
  auto servers = std::make_shared<int>(0);
  command->add_option("directory", *directory, "the job's --directory; no server runs on it")->required();
  auto workers = std::make_shared<int>(0);
  command->add_option("--servers", *servers, "how many servers the next run has")
      ->required()
      ->check(argosy::cli::whole_number(1));
  command->add_option("--workers", *workers, "how many workers it has, where the run there has finished; as many as that one")
      ->check(argosy::cli::whole_number(1));
  command->callback([directory, servers, workers, &result] {
    result = report(argosy::ps::reshard(*directory, *servers, *workers > 0 ? std::optional(*workers) : std::nullopt));
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto status = argosy::apps::become_other_program(argc, argv)) return *status;
  CLI::App app(
      "Tools around Argosy, Fleet-style training on libtorch.\n\n"
      "  argosy convert --from criteo day_0.gz day_0.parquet   text to Parquet, and back; saved models to ONNX\n"
      "  argosy criteo 100001 < part-0 > part-0.ms     what a dataset's pipe command does\n"
      "  argosy inspect models/epoch3.model            what a saved model, a snapshot or a tensor file holds\n"
      "  argosy inspect models/epoch3.model --diff models/epoch4.model\n"
      "  argosy repair kept/server-0                   what keeps a server from starting on its directory\n"
      "  argosy reshard kept --servers 4               a run of any number of servers goes on with four\n"
      "  argosy rows 127.0.0.1:6170,127.0.0.1:6171 --table emb   what servers, or followers of them, hold now\n"
      "  argosy serve models/epoch3.model              predictions over HTTP\n"
      "  argosy check-online A B                       whether two models predict the same, and where not\n"
      "  argosy word2vec-eval model/emb --vocabulary model/words --analogies questions-words.txt   scores of word vectors\n"
      "  argosy status logs --watch                    how a job goes on, by its log folder\n\n"
      "argosy COMMAND --help says more of each. A wrong command line ends with status 2.\n",
      "argosy");
  app.require_subcommand(1);
  argosy::cli::add_common_options(app);
  int result = 0;
  argosy::apps::add_convert(app, result);
  add_criteo(app, result);
  argosy::apps::add_arbiter(app, result);
  argosy::apps::add_inspect(app, result);
  add_repair(app, result);
  add_reshard(app, result);
  argosy::apps::add_rows(app, result);
  argosy::apps::add_word2vec_eval(app, result);
  argosy::apps::add_versions(app, result);
#ifdef ARGOSY_PUBLISH
  argosy::apps::add_publish(app, result);
#endif
  argosy::apps::add_other_programs(app);
  add_observe_commands(app, result);
  if (const auto status = argosy::cli::parse_or_exit(app, argc, argv, "doctor")) return *status;
  return result;
}
