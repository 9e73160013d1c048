// An argosy-server under somebody who floods its port, from half a core: what it costs the server's memory, and the worker that
// trains meanwhile.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>
#include <utility>

#include "argosy/base/fd.h"
#include "argosy/base/thread.h"
#include "argosy/ps/server/server_scratch.h"

extern char** environ;

namespace argosy::ps {
namespace {

using namespace scratch;

// A server with the token "secret", at a free port.
class Process {
 public:
  Process() {
    int ends[2];
    ARGOSY_CHECK(::pipe2(ends, O_CLOEXEC) == 0);
    std::vector<std::string> words = {
        ARGOSY_SERVER_PROGRAM, "--address", "127.0.0.1:0", "--token", "secret", "--job", "test", "--run-id", kRun};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    ARGOSY_CHECK(::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) endpoint_ += c;
    ::close(ends[0]);
  }
  ~Process() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  const std::string& endpoint() const { return endpoint_; }
  uint16_t port() const { return static_cast<uint16_t>(std::stoi(endpoint_.substr(endpoint_.rfind(':') + 1))); }
  // Resident, in MB.
  double memory() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
    }
    return 0;
  }

 private:
  pid_t pid_ = 0;
  std::string endpoint_;
};

// ---- HTTP/2, as far as somebody needs it who is up to no good.

std::string frame(char type, char flags, uint32_t stream, const std::string& payload) {
  std::string bytes;
  for (const int shift : {16, 8, 0}) bytes += static_cast<char>(payload.size() >> shift);
  bytes += type;
  bytes += flags;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(stream >> shift);
  return bytes + payload;
}

std::string header(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + name + static_cast<char>(value.size()) + value;
}

std::string open_stream(uint32_t stream, const std::string& token_in_base64) {
  return frame(1, 4, stream,
               "\x83\x86" + header(":path", "/argosy/call") + header(":authority", "x") + header("te", "trailers") +
                   header("content-type", "application/grpc") + header("argosy-token-bin", token_in_base64));
}

std::string greeting() { return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, ""); }

struct Flood {
  const char* name;
  std::string token;     // in base 64; empty: says nothing at all
  uint32_t streams = 0;  // of each connection
  size_t connections = 1;
};

// One thread that keeps so many connections with so many streams each open, or opens them again where it is thrown out, and
// takes half of a core at most.
class Flooder {
 public:
  Flooder(uint16_t port, const Flood& flood) : port_(port), flood_(flood), thread_("flooder", [this] { run(); }) {}
  ~Flooder() { stop_ = true; }
  uint64_t opened() const { return opened_; }

 private:
  struct Connection {
    Fd fd;
    uint32_t streams = 0;
    std::string unsent;
    bool agreed = false;  // it has the server's settings, and has said so: from then on they bind it
  };

  void run() {
    std::vector<Connection> connections(flood_.connections);
    while (!stop_) {
      for (Connection& connection : connections) {
        work(connection);
        rest();
        if (stop_) return;
      }
    }
  }
  void work(Connection& connection) {
    if (!connection.fd.open()) return connect(connection);
    char bytes[65536];
    ssize_t got = 0;
    while ((got = ::recv(connection.fd.get(), bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
      if (!std::exchange(connection.agreed, true)) connection.unsent += frame(4, 1, 0, "");
    }
    if (got == 0 || errno != EAGAIN) return connection.fd.close();
    if (connection.agreed && connection.unsent.empty() && connection.streams < flood_.streams) {
      for (int i = 0; i < 200 && connection.streams < flood_.streams; ++i, ++connection.streams, ++opened_) {
        connection.unsent += open_stream(2 * connection.streams + 1, flood_.token);
      }
    }
    const ssize_t sent =
        ::send(connection.fd.get(), connection.unsent.data(), connection.unsent.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) connection.unsent.erase(0, static_cast<size_t>(sent));
    if (sent < 0 && errno != EAGAIN) connection.fd.close();
  }
  void connect(Connection& connection) {
    connection = {.fd = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), .streams = 0, .unsent = {}, .agreed = false};
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port_);
    const timeval patience{.tv_sec = 0, .tv_usec = 50'000};
    ::setsockopt(connection.fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (::connect(connection.fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      return connection.fd.close();
    }
    if (!flood_.token.empty()) connection.unsent = greeting();
  }
  void rest() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    const double seconds = static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
    const double ahead = 2 * seconds - watch_.seconds();
    if (ahead > 0.001) std::this_thread::sleep_for(std::chrono::duration<double>(ahead));
  }

  const uint16_t port_;
  const Flood flood_;
  const Stopwatch watch_;
  std::atomic<bool> stop_ = false;
  std::atomic<uint64_t> opened_ = 0;
  Thread thread_;
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

// Prints its figures; fails on memory, and where the worker starves. (How much slower it may get is measured, not tested: a
// machine that does other things stalls for longer.)
void hold_against(const Flood& flood) {
  Process process;
  auto link = std::make_shared<Link>();
  link->channel = std::move(*rpc::connect_channel(process.endpoint(), {.security = {.token = "secret"}}));
  ASSERT_EQ(link->channel->wait_ready(Deadline::after_seconds(30)), Status::ok_status());
  Worker worker(link, job(Mode::async, 1, {counting_rows()}), 0, 1);
  ASSERT_OK(worker.hello());
  uint32_t batch = 0;
  (void)p99(worker, 0.5, batch);  // warm
  const double before = p99(worker, 2, batch), memory_before = process.memory();
  const Flooder flooder(process.port(), flood);
  const double during = p99(worker, 4, batch), memory = process.memory() - memory_before;
  std::printf("flood %s: %lu streams sent; p99 %.3f ms before, %.3f ms during; server +%.1f MB\n", flood.name,
              static_cast<unsigned long>(flooder.opened()), before, during, memory);
  EXPECT_LT(memory, 32);
  EXPECT_LT(during, 2000);
  EXPECT_TRUE(worker.stats().ok());
}

TEST(Flood, OfStreamsWithAnotherToken) { hold_against({.name = "wrong token", .token = "Z3Vlc3M=", .streams = 20'000}); }
TEST(Flood, OfStreamsWithTheToken) { hold_against({.name = "right token", .token = "c2VjcmV0", .streams = 20'000}); }
TEST(Flood, OfConnectionsThatSayNothing) { hold_against({.name = "silence", .token = "", .connections = 400}); }
TEST(Flood, OfConnectionsWithStreams) {
  hold_against({.name = "many connections", .token = "c2VjcmV0", .streams = 100, .connections = 200});
}

}  // namespace
}  // namespace argosy::ps
