#pragma once

#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "argosy/base/check.h"
#include "argosy/base/mutex.h"
#include "argosy/base/random.h"
#include "argosy/ps/client/client.h"
#include "argosy/ps/server/server.h"
#include "argosy/rpc/in_process.h"
#include "argosy/table/log_segment.h"

// Servers of a job within a test's process, on channels that lose, repeat or refuse messages. For tests of this room.
namespace argosy::ps {

// What goes wrong on the channels of one client. Thread-safe.
struct Faults {
  explicit Faults(uint64_t seed = 1) : random(seed) {}

  std::atomic<double> lose_request = 0, lose_reply = 0, repeat = 0;  // probabilities of a call
  std::atomic<int64_t> cut_after = -1;                  // calls until nothing passes any more; -1: never
  std::atomic<bool> cut = false;

  void disturb(double probability) {
    lose_request = probability;
    lose_reply = probability;
    repeat = probability;
  }
  // From now on everything passes.
  void heal() {
    disturb(0);
    cut_after = -1;
    cut = false;
  }

  double draw() {
    MutexLock lock(mutex);
    return random.uniform();
  }

  // Requests of `method` that never came to a server.
  void count_lost(uint16_t method) {
    MutexLock lock(mutex);
    ++lost[method];
  }
  int lost_requests(uint16_t method) {
    MutexLock lock(mutex);
    return lost[method];
  }

  // The answer to the next call of `method` stays on its way until release().
  void hold_next(uint16_t method) {
    MutexLock lock(mutex);
    hold = method;
  }
  bool holds(uint16_t method) {
    MutexLock lock(mutex);
    if (hold != method) return false;
    hold.reset();
    return true;
  }
  void keep(rpc::Callback done, Result<rpc::Received> answer) {
    MutexLock lock(mutex);
    held.emplace(std::move(done), std::move(answer));
  }
  bool keeps() {
    MutexLock lock(mutex);
    return held.has_value();
  }
  void release() {
    MutexLock lock(mutex);
    auto [done, answer] = *std::exchange(held, std::nullopt);
    lock.unlock();
    done(std::move(answer));
  }

 private:
  Mutex mutex;
  Random random;  // guarded by mutex, as are those below
  std::map<uint16_t, int> lost;
  std::optional<uint16_t> hold;
  std::optional<std::pair<rpc::Callback, Result<rpc::Received>>> held;
};

class FaultyChannel final : public rpc::Channel {
 public:
  FaultyChannel(std::unique_ptr<rpc::Channel> inner, std::shared_ptr<Faults> faults)
      : inner_(std::move(inner)), faults_(std::move(faults)) {}

  void call(rpc::Message message, Deadline deadline, rpc::Callback done) override {
    const auto lost = [](rpc::Callback& to) { to(Status::unavailable("the test lost this message")); };
    if (faults_->cut_after >= 0 && faults_->cut_after-- == 0) faults_->cut = true;
    const double draw = faults_->draw();
    if (faults_->cut || draw < faults_->lose_request) {
      faults_->count_lost(message.method);
      return lost(done);
    }
    if (draw < faults_->lose_request + faults_->lose_reply) {
      auto shared = std::make_shared<rpc::Callback>(std::move(done));
      return inner_->call(std::move(message), deadline, [shared, lost](const Result<rpc::Received>&) { lost(*shared); });
    }
    if (draw < faults_->lose_request + faults_->lose_reply + faults_->repeat) {
      inner_->call(message, deadline, [](const Result<rpc::Received>&) {});
    }
    if (faults_->holds(message.method)) {
      return inner_->call(std::move(message), deadline,
                          [done, faults = faults_](Result<rpc::Received> answer) { faults->keep(done, std::move(answer)); });
    }
    inner_->call(std::move(message), deadline, std::move(done));
  }
  Status wait_ready(Deadline deadline) override { return inner_->wait_ready(deadline); }
  const std::string& peer() const override { return inner_->peer(); }

 private:
  const std::unique_ptr<rpc::Channel> inner_;
  const std::shared_ptr<Faults> faults_;
};

// Whether something comes about in time; what decides it is another thread's business.
inline bool wait_for(const std::function<bool()>& condition) {
  const Deadline patience = Deadline::after_seconds(60);
  while (!condition() && !patience.passed()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

// Servers 0 … n-1, each with a directory of its own, that can be killed and started again at their places.
class Cluster {
 public:
  explicit Cluster(int servers, std::function<void(ServerOptions&)> change = {}, bool durable = false)
      : change_(std::move(change)), durable_(durable) {
    char folder[] = "/tmp/argosy_ps_XXXXXX";
    ARGOSY_CHECK(mkdtemp(folder) != nullptr, "no temporary folder");
    folder_ = folder;
    for (int i = 0; i < servers; ++i) seats_.push_back(std::make_shared<Seat>());
    for (int i = 0; i < servers; ++i) start(i);
  }
  ~Cluster() {
    for (int i = 0; i < size(); ++i) kill(i);
    std::filesystem::remove_all(folder_);
  }

  int size() const { return static_cast<int>(seats_.size()); }
  const std::filesystem::path& folder() const { return folder_; }

  void start(int i) {
    ServerOptions options;
    options.address = "";
    options.server = i;
    options.servers = size();
    options.threads = 2;
    options.launch = "the test's";  // a process that is started again goes on
    if (durable_) options.directory = folder_ / std::to_string(i);
    if (change_) change_(options);
    auto server = Server::start(options);
    ARGOSY_CHECK(server.ok(), server.status().message());
    std::unique_lock lock(seat(i).mutex);
    seat(i).handler = (*server)->handler();
    seat(i).server = std::move(*server);
  }

  // What it had not written is gone.
  void kill(int i) {
    std::unique_ptr<Server> server;
    {
      std::unique_lock lock(seat(i).mutex);
      seat(i).handler = nullptr;
      server = std::move(seat(i).server);
    }
  }

  // Calls that came while this server was killed.
  int refused(int i) { return seat(i).refused; }

  // Options of a client that reaches the servers, through `faults` if given.
  ClientOptions client(int worker, std::shared_ptr<Faults> faults = nullptr) const {
    ClientOptions options;
    for (int i = 0; i < size(); ++i) options.servers.push_back(std::to_string(i));
    options.job = "test";
    options.worker = worker;
    options.server_wait_seconds = 60;
    options.call_seconds = 20;
    options.make_channel = [seats = seats_, faults](const std::string& endpoint) -> Result<std::unique_ptr<rpc::Channel>> {
      auto handler = [seat = seats[std::stoul(endpoint)]](rpc::Request request, rpc::Reply reply) {
        std::shared_lock lock(seat->mutex);
        if (seat->handler == nullptr) {
          ++seat->refused;
          return reply.fail(Status::unavailable("the test has killed this server"));
        }
        seat->handler(std::move(request), std::move(reply));
      };
      auto channel = rpc::connect_in_process(handler, {.threads = 2, .name = "place " + endpoint});
      if (faults == nullptr) return channel;
      return std::unique_ptr<rpc::Channel>(std::make_unique<FaultyChannel>(std::move(channel), faults));
    };
    return options;
  }

 private:
  struct Seat {
    std::shared_mutex mutex;
    rpc::Handler handler;            // guarded by mutex
    std::unique_ptr<Server> server;  // guarded by mutex
    std::atomic<int> refused = 0;
  };
  Seat& seat(int i) { return *seats_[static_cast<size_t>(i)]; }

  const std::function<void(ServerOptions&)> change_;
  const bool durable_;
  std::filesystem::path folder_;
  std::vector<std::shared_ptr<Seat>> seats_;
};

// Cuts the last `records` records off the log of a server that does not run, as a power cut may.
inline void cut_log(const std::filesystem::path& folder, size_t records) {
  const auto segments = table::list_segments(folder);
  ARGOSY_CHECK(segments.ok() && !segments->empty(), "there is no log");
  std::vector<uint64_t> positions;
  const table::LogSegment& last = segments->back();
  const Status read = table::replay_segment(last, last.first, [&](uint64_t position, Bytes) {
    positions.push_back(position);
    return Status();
  });
  ARGOSY_CHECK(read.ok() && positions.size() > records, "the log has too few records");
  std::filesystem::resize_file(last.path, positions[positions.size() - records] - last.first);
}

inline TableSpec dense_table(const std::string& name, uint64_t size, double rate = 1) {
  TableSpec table;
  table.name = name;
  table.size = size;
  table.schedule = optim::LearningRate(rate).to_schedule();
  return table;
}

inline TableSpec sparse_table(const std::string& name, uint32_t width, double rate = 1) {
  TableSpec table;
  table.name = name;
  table.sparse = true;
  table.width = width;
  table.schedule = optim::LearningRate(rate).to_schedule();
  return table;
}

}  // namespace argosy::ps
