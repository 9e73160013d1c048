#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>

#include "argosy/base/file.h"
#include "argosy/cli/checks.h"
#include "argosy/cli/program_arguments.h"
#include "argosy/serve/check/compare.h"
#include "argosy/serve/command/commands.h"
#include "argosy/serve/predict/sample_inputs.h"
#include "argosy/serve/redis/redis_source.h"

namespace argosy::serve {
namespace {

constexpr const char* kExamples =
    R"(Says whether two models predict the same, and where they do not: which input, operator, variable, key and sample, and by how much.

  argosy check-online trained.model online.model
  argosy check-online trained.model http://127.0.0.1:8500/v1/models/ctr
  argosy check-online trained.model redis://127.0.0.1:6379/ctr     its program with the parameters that argosy publish has put there
  argosy check-online trained.model predictions.json      what another predictor answered: {"inputs": {…}, "outputs": {…}}

At least one side is a saved model. It ends with status 0 where all that both sides show is equal, 1 where something differs, 2 after a
wrong command line or where a side cannot be opened.
)";

constexpr int kDiffer = 1, kCannot = 2;

struct CheckArguments {
  std::string a, b, samples, record;
  int64_t count = 64;
  uint64_t seed = 1;
  PredictorOptions predictor;
  bool no_fuse = false;
  CompareOptions compare;
};

void add_options(CLI::App& app, CheckArguments& arguments) {
  app.add_option("a", arguments.a, "a saved model, or what B may be")->required();
  app.add_option("b", arguments.b,
                 "a saved model, the address of a served one or of published tables, or a file of recorded predictions")
      ->required();
  app.add_option("--samples", arguments.samples,
                 "a file with a request: {\"instances\": […]} or {\"inputs\": {…}}; random samples without it");
  app.add_option("--record", arguments.record,
                 "a file that gets the samples and what the saved model predicts of them: a side of another comparison");
  app.add_option("--count", arguments.count, "random samples")
      ->capture_default_str()
      ->check(cli::whole_number(1, std::numeric_limits<int64_t>::max()));
  app.add_option("--seed", arguments.seed, "of the random samples")->capture_default_str();
  app.add_option("--tolerance", arguments.compare.tolerance, "of predictions: |a - b| <= tolerance * (1 + |b|)")
      ->capture_default_str()
      ->check(cli::number_from_zero());
  app.add_option("--parameter_tolerance", arguments.compare.parameter_tolerance, "of parameters, likewise; 0: bit by bit")
      ->capture_default_str()
      ->check(cli::number_from_zero());
  app.add_option("--lines", arguments.compare.max_lines, "differences that are shown of each kind")
      ->capture_default_str()
      ->check(cli::whole_number(1));
  app.add_option("--threads", arguments.predictor.threads,
                 "inside of one prediction of saved models; a served one has its --op_threads")
      ->capture_default_str()
      ->check(cli::whole_number(1));
  app.add_flag("--bfloat16", arguments.predictor.bfloat16_matmul, "saved models predict with matrix products in bfloat16");
  app.add_flag("--no_fuse", arguments.no_fuse, "saved models run operators one by one");
}

bool is_url(const std::string& side) { return side.starts_with("http://") || side.starts_with("https://"); }
bool is_recorded(const std::string& side) { return side.ends_with(".json"); }
bool is_published(const std::string& side) { return side.starts_with("redis://"); }
bool is_model(const std::string& side) { return !is_url(side) && !is_recorded(side) && !is_published(side); }

// The program of a saved model with parameters that were published.
Result<Side> open_published(const std::string& url, const std::string& model, PredictorOptions options) {
  ASSIGN_OR_RETURN(const RedisSourceOptions redis, parse_redis_url(url));
  ASSIGN_OR_RETURN(options.source, connect_redis_source(redis));
  ASSIGN_OR_RETURN(Side side, open_model(model, options));
  side.name = fmt::format("{} with the parameters of {}", model, url);
  return side;
}

// Both sides; a saved model comes first where only one is one, because a recorded side is read by its inputs.
Result<std::pair<Side, Side>> open_sides(const CheckArguments& arguments) {
  if (!is_model(arguments.a) && !is_model(arguments.b))
    return Status::invalid_argument("neither '{}' nor '{}' is a saved model; at least one side must be", arguments.a,
                                    arguments.b);
  const bool turned = !is_model(arguments.a);
  const std::string& saved = turned ? arguments.b : arguments.a;
  ASSIGN_OR_RETURN(Side model, open_model(saved, arguments.predictor));
  const std::string& name = turned ? arguments.a : arguments.b;
  ASSIGN_OR_RETURN(Side other, is_url(name)         ? open_served(name)
                               : is_recorded(name)  ? open_recorded(name, model)
                               : is_published(name) ? open_published(name, saved, arguments.predictor)
                                                    : open_model(name, arguments.predictor));
  if (turned) return std::pair(std::move(other), std::move(model));
  return std::pair(std::move(model), std::move(other));
}

struct Samples {
  Inputs inputs;
  std::vector<std::string> ids = {};  // empty: they have none
};

Result<Samples> samples_for(const CheckArguments& arguments, const Side& a, const Side& b) {
  for (const Side* side : {&a, &b})
    if (side->samples) return Samples{*side->samples, side->ids};
  const Side& model = a.predictor != nullptr ? a : b;
  if (arguments.samples.empty()) {
    ASSIGN_OR_RETURN(Inputs random, sample_inputs(*model.predictor, arguments.count, arguments.seed));
    return Samples{std::move(random)};
  }
  ASSIGN_OR_RETURN(const std::string text, read_file(arguments.samples));
  ASSIGN_OR_RETURN(PredictRequest request, parse_request(text, model.inputs));
  return Samples{std::move(request.inputs), parse_ids(text)};
}

// Samples and predictions of a saved model as a recorded side: a request and its answer in one object.
Status record(const std::string& file, const Side& model, const Inputs& samples) {
  ASSIGN_OR_RETURN(const auto outputs, model.predictor->run(samples));
  ASSIGN_OR_RETURN(const std::string answer, format_answer(model.outputs, outputs, false));
  std::string text = format_request(model.inputs, samples);
  text.pop_back();  // the bracket that closes it
  return write_file_atomically(file, text + "," + answer.substr(1) + "\n");
}

bool show(const Section& section) {
  std::printf("%-12s %s: %s\n", section.title.c_str(),
              !section.compared             ? "not compared"
              : section.differences.empty() ? "ok"
                                            : "DIFFERENT",
              section.summary.c_str());
  for (const std::string& line : section.differences) std::printf("    %s\n", line.c_str());
  return section.differences.empty();
}

// Whether nothing differs.
Result<bool> check(const CheckArguments& arguments) {
  ASSIGN_OR_RETURN(const auto sides, open_sides(arguments));
  const auto& [a, b] = sides;
  std::printf("A is %s\nB is %s\n", a.name.c_str(), b.name.c_str());
  const Section inputs = compare_inputs(a, b);
  bool equal = show(inputs);
  equal &= show(compare_programs(a, b, arguments.compare));
  equal &= show(compare_parameters(a, b, arguments.compare));
  equal &= show(compare_settings(a, b));
  if (!inputs.differences.empty()) {
    std::printf("predictions  not compared: the inputs differ\n");
    return false;
  }
  ASSIGN_OR_RETURN(const Samples samples, samples_for(arguments, a, b));
  if (!arguments.record.empty()) RETURN_IF_ERROR(record(arguments.record, a.predictor != nullptr ? a : b, samples.inputs));
  CompareOptions options = arguments.compare;
  options.ids = samples.ids;
  ASSIGN_OR_RETURN(const Section predictions, compare_predictions(a, b, samples.inputs, options));
  equal &= show(predictions);
  std::printf("%s\n", equal ? "equal" : "different");
  return equal;
}

}  // namespace

int check_command(int argc, char** argv) {
  CheckArguments arguments;
  CLI::App app(kExamples, "argosy check-online");
  add_options(app, arguments);
  cli::add_common_options(app);
  if (const auto status = cli::parse_or_exit(app, argc, argv)) return *status;
  arguments.predictor.fuse = !arguments.no_fuse;
  const auto equal = check(arguments);
  if (equal.ok()) return *equal ? 0 : kDiffer;
  std::fflush(stdout);
  std::fprintf(stderr, "argosy check-online: %s\n", equal.status().message().c_str());
  return kCannot;
}

}  // namespace argosy::serve
