// word2vec: skip-gram or CBOW with negative sampling, from sentences, on one machine or on parameter servers; as word2vec.py.
//
//   word2vec 'corpus/*.txt' model                                                                 on this machine
//   fleetrun --no-python --server_num 2 --worker_num 2 word2vec 'corpus/*.txt' model skip_gram geo      the same on servers
//   argosy word2vec-eval model/emb --vocabulary model/words --analogies questions-words.txt
#include <argosy/argosy.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

using namespace argosy;
namespace L = argosy::layers;

constexpr int64_t kWidth = 100, kWindow = 5, kNegatives = 5, kMinCount = 5, kGroup = 32;

struct Arguments {
  std::string files, folder, model;
  Mode mode;
  int threads, passes, batch;  // a batch is so many lines
};

struct Network {
  Variable word, around, drawn;
  L::WindowLoss loss;
};

Variable rows(const Variable& ids, int64_t words, const char* table) {
  ParamAttr parameter(table);
  parameter.initializer = std::string_view(table) == "emb" ? graph::uniform_initializer(-1.0f / kWidth, 1.0f / kWidth)
                                                           : graph::constant_initializer(0);
  return L::embedding_v2(ids, {words, kWidth}, {.is_sparse = true, .param = parameter});
}

Network network(int64_t words, const std::string& model) {
  Network net{L::data("word", {1}, kInt64), L::data("around", {1}, kInt64, {.lod_level = 1}), L::data("drawn", {1}, kInt64), {}};
  const bool cbow = model == "cbow";
  net.loss = L::window_loss(rows(net.word, words, cbow ? "emb_w" : "emb"), rows(net.around, words, cbow ? "emb" : "emb_w"),
                            rows(net.drawn, words, "emb_w"), {.mode = model, .negatives = kNegatives, .group = kGroup});
  return net;
}

void train(const Arguments& arguments, bool on_servers) {
  const std::vector<std::string> files = glob(arguments.files);
  const auto words = count_words({.files = files, .min_count = kMinCount});
  default_startup_program()->random_seed = 1;
  const Network net = network(words->size(), arguments.model);
  // Sync and geo average what workers do, and each counts its own batches; half-async and async add it up, and count all.
  const int averaged = on_servers && (arguments.mode == Mode::sync || arguments.mode == Mode::geo) ? fleet::worker_num() : 1;
  const int64_t batches = words->lines() * arguments.passes / arguments.batch / averaged + 1;
  const double rate = (arguments.model == "cbow" ? 0.05 : 0.025) * averaged;
  const optim::SGD rule{.learning_rate = optim::polynomial_decay(rate, batches, 0.0001)};
  if (!on_servers) minimize(rule, net.loss.loss);
  if (on_servers) fleet::distributed_optimizer(rule, {.mode = arguments.mode, .geo_k_steps = 100}).minimize(net.loss.loss);
  if (on_servers && fleet::is_server()) return static_cast<void>(fleet::run_server());
  std::printf("rate %g at first, 0.0001 after %ld batches\n", rate, static_cast<long>(batches));
  if (on_servers) fleet::init_worker();
  Executor exe;
  exe.run(default_startup_program());
  const auto dataset = make_dataset({.use = inputs(net.word, net.around, net.drawn),
                                     .files = on_servers ? fleet::util().get_file_shard(files) : files,
                                     .format = corpus({.vocabulary = words, .window = kWindow, .sample = 1e-4}),
                                     .batch_size = arguments.batch,
                                     .threads = arguments.threads});
  for (int pass = 0; pass < arguments.passes; ++pass) {
    const auto report = exe.train_from_dataset(default_main_program(), *dataset,
                                               {.fetch = {{"loss", net.loss.per_pair}}, .print_period = 1 << 30});
    const double loss = report.last_fetches.empty() ? 0.0 : report.last_fetches[0].tensor.item<double>();
    std::printf("pass %d: %ld words, loss %.4f\n", pass, static_cast<long>(report.total.samples), loss);
    std::fflush(stdout);
  }
  if (on_servers) fleet::barrier_worker();  // everybody's gradients are in what is saved
  if (!on_servers || fleet::is_first_worker()) {
    on_servers ? fleet::save_persistables(arguments.folder, *default_main_program())
               : save_persistables(*default_main_program(), arguments.folder);
    throw_if_error(words->write(arguments.folder + "/words"));
    std::printf("saved %s: %ld words\n", arguments.folder.c_str(), static_cast<long>(words->size()));
  }
  if (on_servers) fleet::stop_worker();
}

int main(int argc, char** argv) try {
  const std::map<std::string_view, Mode> modes = {
      {"sync", Mode::sync}, {"half_async", Mode::half_async}, {"async", Mode::async}, {"geo", Mode::geo}};
  const auto word = [&](int i, const char* otherwise) { return std::string(argc > i ? argv[i] : otherwise); };
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  const std::string model = word(3, "skip_gram"), mode = word(4, "async");
  if (argc < 3 || (model != "skip_gram" && model != "cbow") || !modes.contains(mode)) {
    std::fprintf(stderr, "usage: %s 'FILES' FOLDER [skip_gram|cbow [MODE [THREADS [PASSES [LINES_PER_BATCH]]]]]\n", argv[0]);
    return 2;
  }
  const bool on_servers = std::getenv("TRAINING_ROLE") != nullptr;  // a launcher says so
  if (on_servers) fleet::init();
  train({argv[1], argv[2], model, modes.at(mode), number(5, 1), number(6, 5), number(7, 48)}, on_servers);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
