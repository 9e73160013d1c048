// A worker's pull and push of a CTR batch against argosy-server processes on this machine: the whole way of a step's rows; and
// what it is made of, the wire alone and the store alone.
#include <benchmark/benchmark.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>

#include "argosy/base/random.h"
#include "argosy/ps/client/client.h"
#include "argosy/rpc/channel.h"
#include "argosy/rpc/rpc_server.h"
#include "argosy/table/sparse_table.h"
#include "argosy/testing/started_program.h"

namespace argosy::ps {
namespace {

constexpr size_t kRows = 1'000'000, kBatch = 26'000, kWidth = 10;

std::set<pid_t> running;

// Leaves no server behind.
void need(bool ok, const std::string& what) {
  if (ok) return;
  std::fprintf(stderr, "ps_bench: %s\n", what.c_str());
  for (const pid_t server : running) ::kill(server, SIGKILL);
  std::_Exit(1);
}

// An argosy-server of this build, as a process, at a free port.
class ServerProcess {
 public:
  ServerProcess(int server, int servers, const std::filesystem::path& directory) {
    const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../../bin/argosy-server";
    need(std::filesystem::exists(program), program.string() + " is not there: build argosy_server first");
    std::vector<std::string> words{program, "--server-index", std::to_string(server), "--servers", std::to_string(servers),
                                   "--job", "bench"};
    if (!directory.empty()) words.insert(words.end(), {"--directory", directory});
    auto started = testing::StartedProgram::start({.command = words});
    need(started.ok(), started.status().message());
    program_.emplace(std::move(*started));
    running.insert(program_->pid());
  }
  ~ServerProcess() {
    running.erase(program_->pid());
    program_->end();
  }

  const std::string& endpoint() const { return program_->line(); }

 private:
  std::optional<testing::StartedProgram> program_;
};

std::vector<uint64_t> all_keys() {
  std::vector<uint64_t> keys(kRows);
  std::iota(keys.begin(), keys.end(), 0);
  return keys;
}

// Batches of unique keys, enough of them that none finds its rows in the processor's cache.
std::vector<std::vector<uint64_t>> make_batches() {
  std::vector<uint64_t> keys = all_keys();
  Random random(1);
  std::vector<std::vector<uint64_t>> batches(32);
  for (auto& batch : batches) {
    std::shuffle(keys.begin(), keys.end(), random);
    batch.assign(keys.begin(), keys.begin() + kBatch);
  }
  return batches;
}

// What a turn pulls and what it pushes: a batch's gradients come when other batches have taken its rows' place in the cache.
const std::vector<uint64_t>& pulled_keys(const std::vector<std::vector<uint64_t>>& batches, size_t turn) {
  return batches[turn % batches.size()];
}
const std::vector<uint64_t>& pushed_keys(const std::vector<std::vector<uint64_t>>& batches, size_t turn) {
  return batches[(turn + batches.size() / 2) % batches.size()];
}

// Servers with a table of a million rows, a client, and batches of unique keys.
class Job {
 public:
  Job(int servers, bool logs) {
    char folder[] = "/tmp/argosy_ps_bench_XXXXXX";
    need(mkdtemp(folder) != nullptr, "no temporary folder");
    folder_ = folder;
    ClientOptions options{.job = "bench"};
    for (int i = 0; i < servers; ++i) {
      processes_.push_back(std::make_unique<ServerProcess>(i, servers, logs ? folder_ / std::to_string(i) : ""));
      options.servers.push_back(processes_.back()->endpoint());
    }
    TableSpec table;
    table.name = "emb";
    table.sparse = true;
    table.width = kWidth;
    table.rule = "adagrad";
    table.schedule = optim::LearningRate(0.01).to_schedule();
    auto connected = Client::connect(options, {.mode = Mode::async, .workers = 1, .tables = {table}});
    need(connected.ok(), connected.status().message());
    client = std::move(*connected);

    const Status filled = client->import_rows(0, all_keys(), std::vector<float>(kRows * kWidth, 0.5f));
    need(filled.ok(), filled.message());
  }
  ~Job() {
    (void)client->stop();
    client.reset();
    processes_.clear();
    std::filesystem::remove_all(folder_);
  }

  void pull() {
    const RowRequest request{.table = 0, .keys = pulled_keys(batches, turn_), .rows = rows.data()};
    const Status status = client->pull_rows(std::span(&request, 1));
    need(status.ok(), status.message());
  }
  void push() {
    const BatchId batch = pushed_++;
    const RowGradients gradients{.table = 0, .keys = pushed_keys(batches, turn_), .values = rows.data()};
    const std::shared_ptr<const void> stays(this, [](const void*) {});  // as the communicators' memory does
    const Status status = client->push({.batches = std::span(&batch, 1), .rows = std::span(&gradients, 1), .owner = stays});
    need(status.ok(), status.message());
  }
  void turn() { turn_ += 1; }

  std::unique_ptr<Client> client;
  const std::vector<std::vector<uint64_t>> batches = make_batches();
  std::vector<float> rows = std::vector<float>(kBatch * kWidth);

 private:
  std::filesystem::path folder_;
  std::vector<std::unique_ptr<ServerProcess>> processes_;
  size_t turn_ = 0;
  BatchId pushed_ = 0;
};

void run(benchmark::State& state, bool pulls, bool pushes) {
  Job job(static_cast<int>(state.range(0)), state.range(1) != 0);
  for (auto _ : state) {
    if (pulls) job.pull();
    if (pushes) job.push();
    job.turn();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kBatch));
}

void pull(benchmark::State& state) { run(state, true, false); }
void push(benchmark::State& state) { run(state, false, true); }
void pull_and_push(benchmark::State& state) { run(state, true, true); }

// A number of iterations, so that a job is made once for each.
void shape(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"servers", "wal"})->Args({1, 0})->Args({2, 0})->Args({1, 1});
  bench->Iterations(300)->Unit(benchmark::kMillisecond)->UseRealTime();
}

// The bytes of a pull and a push, to a server that drops them and answers with as many as there would be.
void wire(benchmark::State& state) {
  static const std::vector<std::byte> keys(kBatch * sizeof(uint64_t)), rows(kBatch * kWidth * sizeof(float));
  const auto slice = [](const std::vector<std::byte>& bytes) { return rpc::Slice{bytes.data(), bytes.size(), nullptr}; };
  const rpc::Message pull{1, "", {slice(keys)}}, push{2, "", {slice(keys), slice(rows)}};
  auto server = rpc::RpcServer::start({.address = "127.0.0.1:0"}, [&](const rpc::Request& request, rpc::Reply reply) {
    reply.send("", request.method == pull.method ? std::vector{slice(rows)} : std::vector<rpc::Slice>());
  });
  need(server.ok(), server.status().message());
  const auto channel = rpc::connect_channel((*server)->endpoint(), {});
  need(channel.ok(), channel.status().message());
  for (auto _ : state) {
    for (const rpc::Message& message : {pull, push}) {
      const auto answer = (*channel)->call_and_wait(message, Deadline::after_seconds(20));
      need(answer.ok(), answer.status().message());
    }
  }
}

// The rows of a pull and a push, in this process.
void store(benchmark::State& state) {
  auto table = std::move(table::SparseTable::make({.name = "bench", .width = kWidth, .rule = "adagrad"})).value();
  need(table->set_rows(all_keys(), std::vector<float>(kRows * kWidth, 0.5f)).ok(), "the table cannot be filled");
  std::vector<float> rows(kBatch * kWidth);
  const auto batches = make_batches();
  size_t turn = 0;
  for (auto _ : state) {
    need(table->pull(pulled_keys(batches, turn), rows, true).ok(), "a pull failed");
    need(table->apply(table->begin_step(0.01f), pushed_keys(batches, turn), rows).ok(), "a push failed");
    turn += 1;
  }
}

void together(benchmark::State& state) {
  Job job(1, false);
  for (auto _ : state) {
    job.pull();
    job.push();
    job.turn();
  }
}

void parts(benchmark::internal::Benchmark* bench) { bench->Iterations(300)->Unit(benchmark::kMicrosecond)->UseRealTime(); }

BENCHMARK(wire)->Apply(parts);
BENCHMARK(store)->Apply(parts);
BENCHMARK(together)->Apply(parts);

BENCHMARK(pull)->Apply(shape);
BENCHMARK(push)->Apply(shape);
BENCHMARK(pull_and_push)->Apply(shape);

}  // namespace
}  // namespace argosy::ps
