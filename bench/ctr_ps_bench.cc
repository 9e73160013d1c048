// CTR-DNN as a job of servers and workers, each a process of this program; bench/ps_job.py starts it through fleetrun.
//
//   ctr_ps_bench 'FILES' FOLDER PASSES criteo|multislot
//
// Each worker streams its share of the files PASSES times, in async mode, and prints one JSON object per pass; the first worker's
// also says what the servers did meanwhile. FOLDER is where servers leave their process numbers, by which the kernel is asked
// for their processor time.
#include <ATen/Parallel.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "argosy/base/clock.h"
#include "argosy/ps/client/server_stats.h"
#include "bench/cpu_time.h"
#include "bench/ctr_model.h"

namespace argosy::bench {
namespace {

std::string number_file(const std::string& folder, int server) { return folder + "/server-" + std::to_string(server); }

// What the servers of the job have done since they were started, all together.
struct Served {
  double cpu_seconds = 0;
  uint64_t bytes_in = 0, bytes_out = 0;
};

Served served(const std::string& folder) {
  Served total;
  for (int server = 0; server < fleet::server_num(); ++server) {
    pid_t number = 0;
    clockid_t clock = 0;
    std::ifstream file(number_file(folder, server));
    if (!(file >> number) || clock_getcpuclockid(number, &clock) != 0)
      throw Error(Status::not_found("{} has no process number of a server that runs", number_file(folder, server)));
    total.cpu_seconds += cpu_seconds(clock);
  }
  for (const ps::ServerStats& stats : fleet::server_stats()) {
    total.bytes_in += stats.bytes_in;
    total.bytes_out += stats.bytes_out;
  }
  return total;
}

void print_pass(int pass, const TrainProgress& trained, double cpu_used, const Served& before, const Served& after) {
  std::printf(
      "{\"pass\": %d, \"samples\": %ld, \"seconds\": %.4f, \"cpu_seconds\": %.4f, \"server_cpu_seconds\": %.4f, "
      "\"bytes_in\": %lu, \"bytes_out\": %lu}\n",
      pass, static_cast<long>(trained.samples), trained.seconds, cpu_used, after.cpu_seconds - before.cpu_seconds,
      static_cast<unsigned long>(after.bytes_in - before.bytes_in),
      static_cast<unsigned long>(after.bytes_out - before.bytes_out));
  std::fflush(stdout);
}

struct Arguments {
  std::string files, folder;
  int passes = 1;
  bool criteo = true, bfloat16 = false;
};

void train(const CtrModel& model, const Arguments& arguments) {
  at::set_num_threads(1);
  fleet::init_worker();
  Executor executor({.bfloat16_matmul = arguments.bfloat16});
  executor.run(model.startup);
  const auto dataset = make_dataset({.use = model.inputs,
                                     .files = fleet::util().get_file_shard(glob(arguments.files)),
                                     .format = arguments.criteo ? ctr_format() : multislot(),
                                     .batch_size = kBatch});
  for (int pass = 0; pass < arguments.passes; ++pass) {
    fleet::barrier_worker();
    const Served before = fleet::is_first_worker() ? served(arguments.folder) : Served();
    const double cpu_before = cpu_seconds();
    const Stopwatch watch;
    TrainProgress trained = executor.train_from_dataset(model.main, *dataset).total;
    trained.seconds = watch.seconds();  // with the gradients that were still on their way
    const double cpu_used = cpu_seconds() - cpu_before;
    fleet::barrier_worker();
    print_pass(pass, trained, cpu_used, before, fleet::is_first_worker() ? served(arguments.folder) : Served());
  }
  fleet::stop_worker();
}

void run(const Arguments& arguments) {
  fleet::init();
  const CtrModel model = make_ctr_model(
      [](const Variable& loss) { fleet::distributed_optimizer(ctr_optimizer(), {.mode = Mode::async}).minimize(loss); });
  if (!fleet::is_server()) return train(model, arguments);
  std::ofstream(number_file(arguments.folder, fleet::server_index())) << getpid() << std::endl;
  fleet::run_server();
}

}  // namespace
}  // namespace argosy::bench

int main(int argc, char** argv) try {
  const bool formatted = argc >= 5 && (std::string_view(argv[4]) == "criteo" || std::string_view(argv[4]) == "multislot");
  const bool products =
      argc == 5 || (argc == 6 && (std::string_view(argv[5]) == "float32" || std::string_view(argv[5]) == "bfloat16"));
  if (!formatted || !products) {
    std::fprintf(stderr, "usage: fleetrun --no-python … %s 'FILES' FOLDER PASSES criteo|multislot [float32|bfloat16]\n", argv[0]);
    return 2;
  }
  const bool bfloat16 = argc == 6 && std::string_view(argv[5]) == "bfloat16";
  argosy::bench::run({argv[1], argv[2], std::atoi(argv[3]), std::string_view(argv[4]) == "criteo", bfloat16});
} catch (const argosy::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
