// An argosy-server under somebody who floods its port, from half a core: what it costs the server's memory, and the worker that
// trains meanwhile.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <ostream>

#include "argosy/ps/server/server_scratch.h"
#include "argosy/testing/flooder.h"
#include "argosy/testing/started_program.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::FloodKind;

// A server with the token "secret", at a free port.
class ServerProcess {
 public:
  const std::string& endpoint() const { return program_.line(); }
  int port() const { return std::stoi(endpoint().substr(endpoint().rfind(':') + 1)); }
  // Resident, in MB; now, and the most there ever was.
  double memory() const { return status_line("VmRSS:"); }
  double most_memory() const { return status_line("VmHWM:"); }

 private:
  double status_line(const std::string& name) const {
    std::ifstream status("/proc/" + std::to_string(program_.pid()) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with(name)) return std::stod(line.substr(name.size())) / 1024;
    }
    return 0;
  }

  const Fd nowhere_{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
  const testing::StartedProgram program_ =
      std::move(testing::StartedProgram::start({.command = {ARGOSY_SERVER_PROGRAM, "--address", "127.0.0.1:0", "--token",
                                                            "secret", "--job", "test", "--run-id", kRun},
                                                .errors = nowhere_.get()}))
          .value();
};

// Milliseconds that 99 of 100 calls take, of a worker that pulls and pushes for so many seconds.
double p99(Worker& worker, double seconds, uint32_t& batch) {
  std::vector<double> times;
  for (const Stopwatch all; all.seconds() < seconds;) {
    const Stopwatch one;
    EXPECT_TRUE(worker.pull_rows(0, {1, 2, 3, 4}).ok());
    EXPECT_TRUE(worker.push({batch_id(0, batch++)}, {count_at({1, 2, 3, 4})}).ok());
    times.push_back(one.seconds() * 1000);
  }
  std::ranges::sort(times);
  return times[times.size() * 99 / 100];
}

struct Flood {
  FloodKind kind;
  bool with_token;
};

void PrintTo(const Flood& flood, std::ostream* out) {
  *out << testing::name_of(flood.kind) << (flood.with_token ? "_token" : "_no_token");
}

class FloodTest : public ::testing::TestWithParam<Flood> {};

// Without the token all that speak HTTP/2 are alike: nobody reads it.
std::vector<Flood> floods() {
  std::vector<Flood> all = {{FloodKind::streams_unacknowledged, false}};
  for (const FloodKind kind : testing::all_flood_kinds()) {
    all.push_back({kind, kind != FloodKind::silence && kind != FloodKind::half_a_greeting});
  }
  return all;
}

// Prints its figures; fails on memory, and where the worker starves. (How much slower it may get is measured, by rpc_bench, not
// tested: a machine that does other things stalls for longer.)
TEST_P(FloodTest, CostsLittleMemoryAndStarvesNobody) {
  ServerProcess process;
  auto link = std::make_shared<Link>();
  link->channel = std::move(*rpc::connect_channel(process.endpoint(), {.security = {.token = "secret"}, .unix_socket = false}));
  ASSERT_EQ(link->channel->wait_ready(Deadline::after_seconds(30)), Status::ok_status());
  Worker worker(link, job(Mode::async, 1, {counting_rows()}), 0, 1);
  ASSERT_OK(worker.hello());
  uint32_t batch = 0;
  (void)p99(worker, 0.2, batch);  // warm
  const double before = p99(worker, 0.5, batch), memory_before = process.memory();
  const testing::Flooder flooder(process.port(),
                                 {.kind = GetParam().kind, .token = GetParam().with_token ? "secret" : "", .connections = 8});
  const double during = p99(worker, 1.5, batch), most = process.most_memory() - memory_before;
  std::printf("flood %s: %lu connections, %.1f MB sent; p99 %.3f ms before, %.3f ms during; server at most +%.1f MB\n",
              ::testing::PrintToString(GetParam()).c_str(), static_cast<unsigned long>(flooder.connected()),
              static_cast<double>(flooder.bytes_sent()) / 1e6, before, during, most);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which keep freed memory for a while
  EXPECT_LT(most, 32);
#endif
  EXPECT_LT(during, 2000);
  EXPECT_TRUE(worker.stats().ok());
}

INSTANTIATE_TEST_SUITE_P(Every, FloodTest, ::testing::ValuesIn(floods()), ::testing::PrintToStringParamName());

}  // namespace
}  // namespace argosy::ps
