#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "argosy/ps/server/server_core.h"
#include "argosy/ps/server/server_scratch.h"
#include "argosy/ps/state/state_scratch.h"

// A server that is killed and started again in this process, and its followers, which see only its answers.
namespace argosy::ps::scratch {

// Calls the server that is there at the moment; `unavailable` while there is none.
class Primary {
 public:
  explicit Primary(const ServerOptions& options) : options_(options) { start(); }
  ~Primary() { kill(); }

  void start() {
    auto core = std::make_shared<Core>(options_);
    const Status recovered = core->recover();
    ARGOSY_CHECK(recovered.ok(), recovered.message());
    core->start({});
    const MutexLock lock(mutex_);
    core_ = std::move(core);
  }
  // As kill -9: without a last snapshot.
  void kill() {
    std::shared_ptr<Core> core;
    {
      const MutexLock lock(mutex_);
      core = std::move(core_);
      core_.reset();
    }
    if (core == nullptr) return;
    (void)core->stop(false);
    while (core.use_count() > 1) std::this_thread::yield();  // calls under way
  }
  void restart() {
    kill();
    start();
  }
  Core& core() {
    const MutexLock lock(mutex_);
    return *core_;
  }
  State& state() { return *core().state(); }

  std::unique_ptr<rpc::Channel> connect() {
    return rpc::connect_in_process(
        [this](rpc::Request request, rpc::Reply reply) { handle(std::move(request), std::move(reply)); },
        {.threads = 2, .name = "the-primary:1"});
  }
  // What is done to answers to Follow on their way, one after the other; null: nothing, and nothing is being done any more.
  void set_forge(std::function<void(wire::FollowReply&)> forge) {
    const MutexLock lock(forge_->mutex);
    forge_->forge = std::move(forge);
  }

 private:
  struct Forge {
    Mutex mutex;
    std::function<void(wire::FollowReply&)> forge ARGOSY_GUARDED_BY(mutex);
    void change(wire::FollowReply& reply) {
      const MutexLock lock(mutex);
      if (forge) forge(reply);
    }
  };
  // Changes an answer.
  class Forger final : public rpc::ReplySink {
   public:
    Forger(rpc::Reply to, std::shared_ptr<Forge> forge) : to_(std::move(to)), forge_(std::move(forge)) {}
    void finish(Status status, std::string header, std::vector<rpc::Slice> payload) override {
      if (!status.ok()) return to_.fail(std::move(status));
      wire::FollowReply reply;
      EXPECT_TRUE(reply.ParseFromString(header));
      forge_->change(reply);
      to_.send(reply.SerializeAsString(), std::move(payload));
    }
    bool cancelled() const override { return to_.cancelled(); }

   private:
    rpc::Reply to_;
    const std::shared_ptr<Forge> forge_;
  };

  void handle(rpc::Request request, rpc::Reply reply) {
    std::shared_ptr<Core> core;
    {
      const MutexLock lock(mutex_);
      core = core_;
    }
    if (core == nullptr) return reply.fail(Status::unavailable("nobody listens"));
    if (request.method == wire::FOLLOW) reply = rpc::Reply(std::make_shared<Forger>(std::move(reply), forge_));
    core->handle(std::move(request), std::move(reply));
  }

  const ServerOptions options_;
  const std::shared_ptr<Forge> forge_ = std::make_shared<Forge>();
  Mutex mutex_;
  std::shared_ptr<Core> core_ ARGOSY_GUARDED_BY(mutex_);
};

class Copy {
 public:
  explicit Copy(Primary& primary, double seconds = 10, WireFormat format = WireFormat::float32) {
    auto link = std::make_unique<PrimaryLink>(primary.connect(), "");
    found = link->find(seconds);
    if (!found.ok()) return;
    ServerOptions options = InProcess::options();
    options.follow = "the-primary:1";
    options.follow_format = format;
    options.directory = folder_.path();
    options.server = link->info().server;
    options.servers = link->info().servers;
    core = std::make_unique<Core>(options, std::move(link));
    core->start({});
    channel->channel = rpc::connect_in_process(
        [this](rpc::Request request, rpc::Reply reply) { core->handle(std::move(request), std::move(reply)); },
        {.threads = 2, .name = "the-follower:1"});
  }
  ~Copy() {
    channel->channel.reset();
    if (core != nullptr) (void)core->stop(false);
  }

  Worker reader(const JobSpec& spec) { return Worker(channel, spec, 0, 77); }
  // Waits until the follower has as many records as the server.
  bool caught_up(State& with, double seconds = 20) const {
    const Deadline deadline = Deadline::after_seconds(seconds);
    while (core->state() == nullptr || core->state()->version() < with.version()) {
      if (deadline.passed()) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
  // Why it cannot go on.
  std::string death() {
    const auto over = core->wait(Deadline::after_seconds(20));
    return over.ok() ? std::string("alive") : over.status().message();
  }

  Status found;
  std::unique_ptr<Core> core;
  const std::shared_ptr<Link> channel = std::make_shared<Link>();

 private:
  Folder folder_;
};

inline std::shared_ptr<Link> link_to(Primary& primary) {
  auto link = std::make_shared<Link>();
  link->channel = primary.connect();
  return link;
}

inline ServerOptions primary_options(const Folder& folder) {
  ServerOptions options = InProcess::options();
  options.directory = folder.path() / "server";
  options.end_with_workers = false;
  options.lease_seconds = 100;
  options.snapshot_roots = {folder.path()};
  return options;
}

inline JobSpec small_job() { return job(Mode::async, 1, {counting_rows(), counting_dense()}); }

inline std::string locked_bytes(State& state) {
  const MutexLock lock(state.mutex());
  return bytes_of(state);
}

}  // namespace argosy::ps::scratch
