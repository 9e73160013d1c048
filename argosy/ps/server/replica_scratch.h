#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "argosy/ps/server/follower_scratch.h"
#include "argosy/ps/server/server_core.h"

// The two processes of a server (replicas=1) in this process, which see only each other's answers, without an arbiter: tests tell
// them what they are.
namespace argosy::ps::scratch {

inline wire::TakeRoleRequest role(wire::ReplicaStatus::Role role, uint64_t epoch, bool may_run = false) {
  wire::TakeRoleRequest request;
  request.set_role(role);
  request.set_epoch(epoch);
  request.set_may_run(may_run);
  return request;
}
inline wire::TakeRoleRequest lead(uint64_t epoch, bool may_run = false) {
  return role(wire::ReplicaStatus::PRIMARY, epoch, may_run);
}

inline bool soon(const std::function<bool()>& holds, double seconds = 20) {
  const Deadline deadline = Deadline::after_seconds(seconds);
  while (!holds()) {
    if (deadline.passed()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

class ReplicaProcess {
 public:
  // The primary of an epoch, with what its directory has.
  ReplicaProcess(const Folder& folder, const std::string& seat, uint64_t epoch,
                 std::optional<uint64_t> reply_limit_bytes = std::nullopt)
      : options_(options(folder, seat)) {
    options_.reply_limit_bytes = reply_limit_bytes.value_or(options_.reply_limit_bytes);
    auto core = std::make_shared<Core>(options_);
    Status status = core->recover();
    if (status.ok()) status = core->take_role(lead(epoch));
    ARGOSY_CHECK(status.ok(), status.message());
    begin(std::move(core));
  }
  // The follower of one.
  ReplicaProcess(const Folder& folder, const std::string& seat, ReplicaProcess& primary) : options_(options(folder, seat)) {
    auto link = std::make_unique<PrimaryLink>(primary.connect(), "");
    Status status = link->find(10);
    ARGOSY_CHECK(status.ok(), status.message());
    options_.follow = "the-primary:1";
    auto core = std::make_shared<Core>(options_, std::move(link));
    status = core->begin_standby();
    ARGOSY_CHECK(status.ok(), status.message());
    begin(std::move(core));
  }
  ~ReplicaProcess() { kill(); }

  static ServerOptions options(const Folder& folder, const std::string& seat) {
    ServerOptions options = primary_options(folder);
    options.address = seat + ":1";
    options.directory = folder.path() / seat / "server-0";
    options.replica = true;
    return options;
  }

  // As kill -9.
  void kill() {
    std::shared_ptr<Core> core;
    {
      const MutexLock lock(mutex_);
      core = std::move(core_);
      core_.reset();
    }
    if (core == nullptr) return;
    (void)core->stop(false);
    while (core.use_count() > 1) std::this_thread::yield();
  }

  Core& core() {
    const MutexLock lock(mutex_);
    return *core_;
  }
  wire::ReplicaStatus status() {
    wire::ReplicaStatus status;
    core().fill(status);
    return status;
  }
  bool becomes_whole() {
    return soon([this] { return status().whole(); });
  }
  // Why it cannot go on.
  std::string death() {
    const auto over = core().wait(Deadline::after_seconds(20));
    return over.ok() ? std::string("alive") : over.status().message();
  }
  const ServerOptions& options() const { return options_; }

  std::unique_ptr<rpc::Channel> connect() {
    return rpc::connect_in_process(
        [this](rpc::Request request, rpc::Reply reply) { handle(std::move(request), std::move(reply)); },
        {.threads = 4, .name = "the-primary:1"});
  }
  std::shared_ptr<Link> link() {
    auto link = std::make_shared<Link>();
    link->channel = connect();
    return link;
  }

  std::atomic<bool> deaf = false;  // to its follower

 private:
  void begin(std::shared_ptr<Core> core) {
    core->start({});
    const MutexLock lock(mutex_);
    core_ = std::move(core);
  }
  void handle(rpc::Request request, rpc::Reply reply) {
    std::shared_ptr<Core> core;
    {
      const MutexLock lock(mutex_);
      core = core_;
    }
    if (core == nullptr || (deaf && request.method == wire::FOLLOW)) return reply.fail(Status::unavailable("nobody listens"));
    core->handle(std::move(request), std::move(reply));
  }

  ServerOptions options_;
  Mutex mutex_;
  std::shared_ptr<Core> core_ ARGOSY_GUARDED_BY(mutex_);
};

}  // namespace argosy::ps::scratch
