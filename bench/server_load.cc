// One load generator for parameter servers, without a model and without torch: pulls and pushes the rows and the dense parameters
// of a CTR batch, one batch after another, as one worker of an async job does. Prints one JSON object.
//
//   server_load --servers HOST:PORT,… --worker 0 --workers 2 --seconds 10
//
// bench/server_scale.py starts servers and as many of these as it is told.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "argosy/base/clock.h"
#include "argosy/base/error.h"
#include "argosy/base/random.h"
#include "argosy/cli/program_arguments.h"
#include "argosy/ps/client/client.h"

namespace argosy::bench {
namespace {

constexpr uint32_t kSamples = 1000;  // that a batch stands for
constexpr size_t kBatches = 64;  // of keys, made before the measurement and used in turn

struct Arguments {
  std::vector<std::string> servers;
  int worker = 0, workers = 1;
  double warm_up_seconds = 2, seconds = 10;
  size_t lookups = 26'000;  // 1,000 samples of 26 slots
  uint64_t keys = 2'000'000;
  uint32_t width = 10;
  uint64_t dense = 430'000;
};

// Keys by Zipf's law (exponent 1), once each.
std::vector<uint64_t> zipf_keys(const Arguments& arguments, Random& random) {
  std::vector<uint64_t> keys(arguments.lookups);
  for (uint64_t& key : keys) key = static_cast<uint64_t>(std::pow(static_cast<double>(arguments.keys), random.uniform()));
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

ps::JobSpec job_of(const Arguments& arguments) {
  ps::TableSpec rows{.name = "rows", .sparse = true, .width = arguments.width};
  ps::TableSpec dense{.name = "dense", .sparse = false, .size = arguments.dense};
  rows.rule = dense.rule = "adagrad";
  rows.schedule = dense.schedule = optim::LearningRate(0.01).to_schedule();
  return {.mode = ps::Mode::async, .workers = arguments.workers, .tables = {rows, dense}};
}

std::unique_ptr<ps::Client> connected(const Arguments& arguments) {
  auto client = value_or_throw(
      ps::Client::connect({.servers = arguments.servers, .job = "load", .worker = arguments.worker}, job_of(arguments)));
  throw_if_error(client->init_dense(1, std::vector<float>(arguments.dense, 0.5f)));
  throw_if_error(client->wait_initialised(Deadline::after_seconds(60)));
  return client;
}

class LoadGenerator {
 public:
  explicit LoadGenerator(const Arguments& arguments) : client_(connected(arguments)), dense_(arguments.dense, 1e-4f) {
    Random random(7, static_cast<uint64_t>(arguments.worker));
    for (size_t i = 0; i < kBatches; ++i) batches_.push_back(zipf_keys(arguments, random));
    rows_.resize(arguments.lookups * arguments.width);
  }

  void run_for(double seconds) {
    for (const Stopwatch watch; watch.seconds() < seconds;) turn();
  }
  void forget() {
    pulls_.clear();
    pushes_.clear();
    pushed_rows_ = 0;
  }
  // All load generators at once.
  void meet(const char* name) { throw_if_error(client_->barrier(name, Deadline::after_seconds(120))); }
  void leave() {
    const ps::PassReading reading{.batches = turn_, .samples = kSamples * uint64_t{turn_}};
    throw_if_error(client_->leave(0, turn_, &reading).status());
    throw_if_error(client_->stop());
  }

  void print(double seconds) {
    std::printf("{\"turns\": %zu, \"rows\": %zu, \"seconds\": %.3f", pulls_.size(), pushed_rows_, seconds);
    print_latency("pull", pulls_);
    print_latency("push", pushes_);
    std::printf("}\n");
  }

 private:
  void turn() {
    const auto& keys = batches_[turn_ % kBatches];
    const Stopwatch pull;
    const RowRequest rows{.table = 0, .keys = keys, .rows = rows_.data()};
    throw_if_error(client_->pull_rows(std::span(&rows, 1)));
    const ps::DenseRequest dense{.table = 1, .values = values_};
    throw_if_error(client_->pull_dense(std::span(&dense, 1)));
    pulls_.push_back(pull.seconds());
    std::ranges::fill(std::span(rows_).first(keys.size() * (rows_.size() / lookups())), 1e-4f);
    const Stopwatch push;
    const BatchId batch = ps::batch_id(0, turn_++);
    const uint32_t samples = kSamples;
    const RowGradients row_gradients{.table = 0, .keys = keys, .values = rows_.data()};
    const DenseGradient gradient{.table = 1, .values = dense_};
    const std::shared_ptr<const void> stays(this, [](const void*) {});
    throw_if_error(client_->push({.batches = std::span(&batch, 1),
                                  .samples = std::span(&samples, 1),
                                  .dense = std::span(&gradient, 1),
                                  .rows = std::span(&row_gradients, 1),
                                  .owner = stays}));
    pushes_.push_back(push.seconds());
    pushed_rows_ += keys.size();
  }
  size_t lookups() const { return rows_.size() / client_->spec().tables[0].width; }

  static void print_latency(const char* name, std::vector<double>& seconds) {
    std::ranges::sort(seconds);
    const auto at = [&](double share) {
      return seconds.empty()
                 ? 0
                 : 1e3 * seconds[std::min(seconds.size() - 1, static_cast<size_t>(share * static_cast<double>(seconds.size())))];
    };
    std::printf(", \"%s_ms\": {\"p50\": %.3f, \"p99\": %.3f, \"p999\": %.3f}", name, at(0.5), at(0.99), at(0.999));
  }

  std::unique_ptr<ps::Client> client_;
  std::vector<std::vector<uint64_t>> batches_;
  std::vector<float> rows_;
  const std::vector<float> dense_;  // gradients
  std::vector<float> values_ = std::vector<float>(dense_.size());
  std::vector<double> pulls_, pushes_;
  size_t pushed_rows_ = 0;
  uint32_t turn_ = 0;
};

void generate(const Arguments& arguments) {
  LoadGenerator load(arguments);
  load.meet("begin");
  load.run_for(arguments.warm_up_seconds);
  load.meet("warm");
  load.forget();
  const Stopwatch watch;
  load.run_for(arguments.seconds);
  load.print(watch.seconds());
  load.meet("end");  // nobody is measured beside fewer
  load.leave();
}

}  // namespace
}  // namespace argosy::bench

int main(int argc, char** argv) try {
  argosy::bench::Arguments arguments;
  CLI::App app("One load generator for parameter servers: pulls and pushes CTR batches, and prints rates and latencies as JSON.");
  const auto add = [&](const char* name, auto& value, const char* help) {
    return app.add_option(name, value, help)->capture_default_str();
  };
  add("--servers", arguments.servers, "host:port of each server, with commas")->required()->delimiter(',');
  add("--worker", arguments.worker, "which of the load generators this is");
  add("--workers", arguments.workers, "how many there are; they begin together")->check(CLI::PositiveNumber);
  add("--seconds", arguments.seconds, "that are measured")->check(CLI::PositiveNumber);
  add("--warm_up_seconds", arguments.warm_up_seconds, "before that")->check(CLI::NonNegativeNumber);
  add("--lookups", arguments.lookups, "keys drawn per batch; those that are drawn twice are sent once")
      ->check(CLI::PositiveNumber);
  add("--keys", arguments.keys, "that there are")->check(CLI::PositiveNumber);
  add("--width", arguments.width, "floats per row")->check(CLI::PositiveNumber);
  add("--dense", arguments.dense, "dense parameters")->check(CLI::PositiveNumber);
  if (const auto status = argosy::cli::parse_or_exit(app, argc, argv)) return *status;
  argosy::bench::generate(arguments);
} catch (const argosy::Error& error) {
  std::fprintf(stderr, "server_load: %s\n", error.what());
  return 1;
}
