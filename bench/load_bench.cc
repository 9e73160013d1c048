// How fast MultiSlot text comes into memory: InMemoryDataset::load_into_memory with one parsing thread, on a file of Criteo's
// slots. Prints one JSON object per line; a new dataset each time.
//
//   load_bench FILE [TIMES]
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "argosy/base/clock.h"
#include "argosy/base/error.h"
#include "argosy/data/criteo.h"
#include "argosy/data/in_memory_dataset.h"

namespace argosy::bench {
namespace {

void load(const std::string& file) {
  data::InMemoryDataset dataset({.slots = data::criteo_slots(), .batch_size = 1000, .threads = 1, .files = {file}});
  const Stopwatch watch;
  throw_if_error(dataset.load_into_memory());
  const double seconds = watch.seconds(), megabytes = static_cast<double>(std::filesystem::file_size(file)) / 1e6;
  std::printf("{\"samples\": %lld, \"megabytes\": %.3f, \"seconds\": %.4f, \"mb_per_second\": %.1f}\n",
              static_cast<long long>(dataset.memory_data_size()), megabytes, seconds, megabytes / seconds);
}

}  // namespace
}  // namespace argosy::bench

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FILE [TIMES]\n", argv[0]);
    return 2;
  }
  const int times = argc > 2 ? std::atoi(argv[2]) : 1;
  for (int i = 0; i < times; ++i) argosy::bench::load(argv[1]);
} catch (const argosy::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
