#include "argosy/apps/convert_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/text.h"
#include "argosy/cli/checks.h"
#include "argosy/cli/program_arguments.h"
#include "argosy/data/convert.h"

namespace argosy::apps {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

struct ConvertArguments {
  std::string from, input, output, slots;
  std::vector<std::string> defaults;
  int64_t hash_dim = 1'000'001;
  data::CriteoScheme scheme = data::CriteoScheme::span;
  data::ConvertOptions options;
};

Status add_default(const std::string& word, data::ColumnOptions& columns) {
  const size_t at = word.find('=');
  const std::string name = word.substr(0, at), value = at == std::string::npos ? "" : word.substr(at + 1);
  if (const auto integer = parse_integer(value)) {
    columns.defaults[name] = *integer;
  } else if (const auto number = parse_number(value)) {
    columns.defaults[name] = *number;
  } else {
    return Status::invalid_argument("--default {}: expected SLOT=NUMBER", word);
  }
  return {};
}

// What the words say together; what does not go together is a wrong command line.
Status take_options(ConvertArguments& arguments) {
  data::ConvertOptions& options = arguments.options;
  if (!arguments.slots.empty()) {
    ASSIGN_OR_RETURN(options.slots, data::parse_slots(arguments.slots));
  }
  for (const std::string& word : arguments.defaults) RETURN_IF_ERROR(add_default(word, options.columns));
  if (arguments.from == "table") return {};
  if (!arguments.defaults.empty())
    return Status::invalid_argument("--default is for what is missing in a table; --from {} is text", arguments.from);
  if (arguments.from == "criteo") {
    if (!options.slots.empty())
      return Status::invalid_argument("--slots is for MultiSlot text and tables; Criteo's text has its own");
    options.criteo = data::CriteoOptions{.hash_dim = arguments.hash_dim, .scheme = arguments.scheme};
  } else if (options.slots.empty()) {
    return Status::invalid_argument(
        "MultiSlot text has no names: say them, as in --slots dense:float32:13,C1:int64,label:int64:1");
  }
  return {};
}

Result<data::ConvertCount> convert(const ConvertArguments& arguments) {
  return arguments.from == "table" ? data::table_to_text(arguments.input, arguments.output, arguments.options)
                                   : data::text_to_parquet(arguments.input, arguments.output, arguments.options);
}

int fail(const Status& status, int exit_code) {
  std::fprintf(stderr, "argosy convert: %s\n", status.message().c_str());
  return exit_code;
}

int run(ConvertArguments& arguments) {
  if (const Status status = take_options(arguments); !status.ok()) return fail(status, cli::kUsageError);
  const auto count = convert(arguments);
  if (!count.ok()) return fail(count.status(), 1);
  std::printf("%s: %s samples", arguments.output.c_str(), with_thousands(count->samples).c_str());
  if (count->bad_lines > 0) std::printf(", %s bad ones left out", with_thousands(count->bad_lines).c_str());
  std::printf("\n");
  return 0;
}

void add_options(CLI::App& command, ConvertArguments& arguments) {
  command.add_option("--from", arguments.from, "what the input is: multislot, criteo (text), or table (Parquet, Arrow)")
      ->required()
      ->check(cli::one_of({"multislot", "criteo", "table"}));
  command.add_option("input", arguments.input, "a file; of text also packed (.gz, .zst)")->required();
  command.add_option("output", arguments.output, "the new file: Parquet from text, MultiSlot text from a table")->required();
  command.add_option("--slots", arguments.slots,
                     "NAME:TYPE or NAME:TYPE:WIDTH, separated by commas; of a table those to take (default: all)");
  command.add_option("--default", arguments.defaults, "SLOT=NUMBER for what a table lacks; may be repeated");
  command.add_option("--hash_dim", arguments.hash_dim, "criteo: ids are taken modulo this number (1000001)")
      ->check(cli::whole_number(1, kMost));
  const std::map<std::string, data::CriteoScheme> schemes = {{"span", data::CriteoScheme::span},
                                                             {"log1p", data::CriteoScheme::log1p}};
  command.add_option("--scheme", arguments.scheme, "criteo: how numbers are scaled and ids made: span (default) or log1p")
      ->transform(CLI::CheckedTransformer(schemes, CLI::ignore_case));
  command.add_option("--rows_per_group", arguments.options.write.rows_per_group, "of a Parquet file's row groups (100000)")
      ->check(cli::whole_number(1, kMost));
  command.add_option("--compression", arguments.options.write.compression, "of a Parquet file: zstd (default), snappy or none")
      ->check(cli::one_of({"zstd", "snappy", "none"}));
  command
      .add_option("--max_bad_lines", arguments.options.max_bad_lines,
                  "so many malformed lines are left out; one more is an error (0)")
      ->check(cli::whole_number(0, kMost));
}

}  // namespace

bool converts_data(int argc, char** argv) {
  if (argc < 2 || std::strcmp(argv[1], "convert") != 0) return false;
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--from" || word.starts_with("--from=")) return true;
  }
  return false;
}

void add_convert(CLI::App& app, int& result) {
  auto* command = app.add_subcommand(
      "convert",
      "Writes a saved model as ONNX, safetensors or Parquet; with --from, samples in another format, bit by bit the "
      "same.\n\n"
      "  argosy convert models/epoch3.model model.onnx\n"
      "  argosy convert --from criteo day_0.gz day_0.parquet --hash_dim 1000001\n"
      "  argosy convert --from table day_0.parquet day_0.txt");
  auto arguments = std::make_shared<ConvertArguments>();
  add_options(*command, *arguments);
  command->callback([arguments, &result] { result = run(*arguments); });
}

}  // namespace argosy::apps
