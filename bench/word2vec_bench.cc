// word2vec (skip-gram) in one process, or as a job of servers and workers in geo mode, each a process of this program, which
// bench/word2vec_job.py starts through fleetrun.
//
//   word2vec_bench 'FILES' FOLDER PASSES THREADS [geo|async|sync]
//
// Each worker streams its share of the files PASSES times and prints one JSON object per pass: words after subsampling, seconds
// of the clock and of the processor; the first worker's also has the servers' processor time. FOLDER is where servers leave their
// process numbers, and where the first worker saves the table `emb` and the vocabulary `words`, for `argosy word2vec-eval`.
#include <ATen/Parallel.h>
#include <argosy/argosy.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "argosy/base/clock.h"
#include "bench/cpu_time.h"

namespace argosy::bench {
namespace {

namespace L = layers;

// As bench/peers/gensim_word2vec.py has it; a batch is about a thousand words.
constexpr int64_t kWidth = 100;
constexpr int kWindow = 5, kNegatives = 5, kMinCount = 5, kLines = 32, kGroup = 32, kGeoSteps = 800;
constexpr double kSample = 1e-4, kRate = 0.025;

struct Arguments {
  std::string files, folder;
  int passes = 1, threads = 1;
  Mode mode = Mode::geo;
  bool on_servers = false;
};

Variable rows(const Variable& ids, int64_t words, const char* table, const graph::Initializer& first) {
  ParamAttr parameter(table);
  parameter.initializer = first;
  return L::embedding_v2(ids, {words, kWidth}, {.is_sparse = true, .param = parameter});
}

struct Model {
  std::vector<Variable> inputs;
  Variable loss, per_pair;
};

Model make_model(int64_t words) {
  const Variable word = L::data("word", {1}, kInt64), around = L::data("around", {1}, kInt64, {.lod_level = 1}),
                 drawn = L::data("drawn", {1}, kInt64);
  const auto uniform = graph::uniform_initializer(-1.0f / kWidth, 1.0f / kWidth), zero = graph::constant_initializer(0);
  const auto loss = L::window_loss(rows(word, words, "emb", uniform), rows(around, words, "emb_w", zero),
                                   rows(drawn, words, "emb_w", zero), {.negatives = kNegatives, .group = kGroup});
  return {{word, around, drawn}, loss.loss, loss.per_pair};
}

std::string number_file(const std::string& folder, int server) { return folder + "/server-" + std::to_string(server); }

// Of all servers, since they were started.
double server_seconds(const Arguments& arguments) {
  if (!arguments.on_servers || !fleet::is_first_worker()) return 0;
  double total = 0;
  for (int server = 0; server < fleet::server_num(); ++server) {
    pid_t number = 0;
    clockid_t clock = 0;
    std::ifstream file(number_file(arguments.folder, server));
    if (!(file >> number) || clock_getcpuclockid(number, &clock) != 0)
      throw Error(Status::not_found("{} has no process number of a server that runs", number_file(arguments.folder, server)));
    total += cpu_seconds(clock);
  }
  return total;
}

void train_pass(int pass, const Arguments& arguments, Executor& executor, data::BatchSource& dataset, const Model& model) {
  if (arguments.on_servers) fleet::barrier_worker();
  const double servers = server_seconds(arguments), cpu = cpu_seconds();
  const Stopwatch watch;
  const auto report = executor.train_from_dataset(default_main_program(), dataset,
                                                  {.fetch = {{"loss", model.per_pair}}, .print_period = 1 << 30});
  const double seconds = watch.seconds(), used = cpu_seconds() - cpu;
  if (arguments.on_servers) fleet::barrier_worker();
  std::printf(
      "{\"pass\": %d, \"words\": %ld, \"seconds\": %.4f, \"cpu_seconds\": %.4f, \"server_cpu_seconds\": %.4f, \"loss\": %.5f}\n",
      pass, static_cast<long>(report.total.samples), seconds, used, server_seconds(arguments) - servers,
      report.last_fetches.empty() ? 0.0 : report.last_fetches[0].tensor.item<double>());
  std::fflush(stdout);
}

void run(const Arguments& arguments) {
  at::set_num_threads(1);
  if (arguments.on_servers) fleet::init();
  const std::vector<std::string> files = glob(arguments.files);
  const auto words = count_words({.files = files, .min_count = kMinCount});
  default_startup_program()->random_seed = 1;
  const Model model = make_model(words->size());
  const int sharers = arguments.on_servers && arguments.mode != Mode::async ? fleet::worker_num() : 1;
  const optim::SGD rule{.learning_rate = optim::polynomial_decay(
                            kRate * sharers, words->lines() * arguments.passes / kLines / sharers + 1, 0.0001)};
  if (arguments.on_servers) {
    fleet::distributed_optimizer(rule, {.mode = arguments.mode, .geo_k_steps = kGeoSteps}).minimize(model.loss);
    if (fleet::is_server()) {
      std::ofstream(number_file(arguments.folder, fleet::server_index())) << getpid() << std::endl;
      return static_cast<void>(fleet::run_server());
    }
    fleet::init_worker();
  } else {
    minimize(rule, model.loss);
  }
  Executor executor;
  executor.run(default_startup_program());
  const auto dataset = make_dataset({.use = model.inputs,
                                     .files = arguments.on_servers ? fleet::util().get_file_shard(files) : files,
                                     .format = corpus({.vocabulary = words, .window = kWindow, .sample = kSample}),
                                     .batch_size = kLines,
                                     .threads = arguments.threads});
  for (int pass = 0; pass < arguments.passes; ++pass) train_pass(pass, arguments, executor, *dataset, model);
  if (arguments.on_servers) fleet::barrier_worker();
  if (!arguments.on_servers || fleet::is_first_worker()) {
    arguments.on_servers ? fleet::save_persistables(arguments.folder, *default_main_program())
                         : save_persistables(*default_main_program(), arguments.folder);
    throw_if_error(words->write(arguments.folder + "/words"));
  }
  if (arguments.on_servers) fleet::stop_worker();
}

}  // namespace
}  // namespace argosy::bench

int main(int argc, char** argv) try {
  const std::string_view mode = argc > 5 ? argv[5] : "geo";
  if (argc < 5 || (mode != "geo" && mode != "async" && mode != "sync")) {
    std::fprintf(stderr, "usage: [fleetrun --no-python …] %s 'FILES' FOLDER PASSES THREADS [geo|async|sync]\n", argv[0]);
    return 2;
  }
  using argosy::Mode;
  argosy::bench::run({.files = argv[1],
                      .folder = argv[2],
                      .passes = std::atoi(argv[3]),
                      .threads = std::atoi(argv[4]),
                      .mode = mode == "geo"     ? Mode::geo
                              : mode == "async" ? Mode::async
                                                : Mode::sync,
                      .on_servers = std::getenv("TRAINING_ROLE") != nullptr});
} catch (const argosy::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
