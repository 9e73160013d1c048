// Peak memory of CTR-DNN training above that of an idle process with libtorch loaded, against what it must hold: parameters,
// optimizer state, and one batch with its activations for each thread.
//
//   memory_bench 'data/part-*' [THREADS]
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "bench/ctr_model.h"

namespace argosy::bench {
namespace {

// A line of /proc/self/status, in bytes.
int64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::atoll(line.c_str() + key.size()) * 1024;
  }
  return 0;
}

// Parameters and Adam's two moments; a batch: ids with their offsets, the inputs, and each layer's output and its gradient.
int64_t needed_bytes(int threads) {
  const std::vector<int64_t> widths = {26 * kWidth + 13, kHidden, kHidden, kHidden, 2};
  int64_t parameters = kRows * kWidth, activations = 0;
  for (size_t i = 0; i + 1 < widths.size(); ++i) parameters += (widths[i] + 1) * widths[i + 1];
  for (const int64_t width : widths) activations += 2 * kBatch * width;
  const int64_t batch = kBatch * (26 * 2 * 8 + 13 * 4 + 8);
  return parameters * 3 * 4 + threads * (activations * 4 + batch);
}

}  // namespace
}  // namespace argosy::bench

int main(int argc, char** argv) try {
  using namespace argosy;
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s 'FILES' [THREADS]\n", argv[0]);
    return 2;
  }
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  at::set_num_threads(1);
  at::mm(at::ones({64, 64}), at::ones({64, 64}));  // an idle process has its libraries warm
  const int64_t idle = bench::status_bytes("VmRSS:");
  auto model = bench::make_ctr_model();
  Executor executor;
  executor.run(model.startup);
  const auto dataset = make_dataset({.use = model.inputs,
                                     .files = glob(argv[1]),
                                     .format = bench::ctr_format(),
                                     .batch_size = bench::kBatch,
                                     .threads = threads});
  engine::TrainOptions options{.threads = threads};
  options.print = [](std::string_view) {};
  value_or_throw(engine::train(executor.runner(), *model.main, *dataset, options, global_scope()));
  const int64_t above = bench::status_bytes("VmHWM:") - idle, needed = bench::needed_bytes(threads);
  std::printf("{\"threads\": %d, \"above_idle_mb\": %.1f, \"needed_mb\": %.1f, \"ratio\": %.3f}\n", threads,
              static_cast<double>(above) / 1e6, static_cast<double>(needed) / 1e6,
              static_cast<double>(above) / static_cast<double>(needed));
} catch (const argosy::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
