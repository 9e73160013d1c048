#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/ps/client/client_types.h"
#include "argosy/ps/client/servers.h"
#include "argosy/ps/spec/messages.pb.h"
#include "argosy/ps/spec/window.h"

namespace argosy::ps {

// Who this worker is to each server: says Hello, keeps what the servers answered, and signs every message. The other parts of a
// client speak to servers through it.
//
// Thread-safe, but for introduce() and resume(): what servers said to Hello is constant after the one, and until the other, which
// one thread calls while no other uses the client.
class Session {
 public:
  Session(const ClientOptions& options, const JobSpec& spec, std::unique_ptr<Servers> servers);

  // Called with each server's answer to Hello, before anything else is sent to it.
  using OnHello = std::function<void(int server, const wire::HelloReply& reply)>;
  // Hello to every server; where nobody gave the run an id, server 0 first, which tells it.
  Status introduce(OnHello on_hello);
  // The same again, as another process.
  Status resume();

  const ClientOptions& options() const { return options_; }
  const JobSpec& spec() const { return spec_; }
  const std::string& run() const { return run_; }
  int worker() const { return options_.worker; }
  int size() const { return servers_->size(); }  // servers
  Servers& servers() const { return *servers_; }

  // ---- What the servers had of this worker; see Client.
  bool replays() const { return replays_; }  // some server had batches of it
  bool had(int server, BatchId batch) const;
  bool all_had(BatchId batch) const;
  uint32_t first_open_round() const;
  uint32_t next_step() const;
  double lease_seconds(int server) const { return introductions_[static_cast<size_t>(server)].lease_seconds; }

  // ---- Messages, signed.
  template <typename Request>
  rpc::Message message(wire::Method method, int server, Request request) const {
    *request.mutable_caller() = caller(server);
    return {.method = static_cast<uint16_t>(method), .header = request.SerializeAsString(), .payload = {}};
  }
  // The same request to every server.
  template <typename Request>
  std::vector<ServerCall> to_all(wire::Method method, const Request& request) const {
    std::vector<ServerCall> calls;
    for (int server = 0; server < size(); ++server) calls.push_back({server, message(method, server, request)});
    return calls;
  }
  std::vector<int> all() const;  // 0, 1, …

  // A server has said in which epoch its primary is; 0: it has one process only.
  void met(int server, uint64_t epoch);

 private:
  // What a server said to Hello.
  struct Introduction {
    std::atomic<uint64_t> incarnation{0};
    std::atomic<uint64_t> epoch{0};  // the latest of its primary
    Window window;  // of this worker
    uint32_t next_step = 0;  // sync: of window.round(), by this worker
    std::atomic<double> lease_seconds{0};
  };

  wire::Caller caller(int server) const;
  rpc::Message hello_message(int server) const;
  Status greet(const std::vector<int>& to, std::optional<Deadline> until = {});
  Status carry_run();
  std::vector<int> not_greeted();
  Status keep_introduction(int server, const rpc::Received& received);

  const ClientOptions options_;
  const JobSpec spec_;
  const std::unique_ptr<Servers> servers_;
  OnHello on_hello_;
  uint64_t process_id_;
  std::string run_;  // constant once a server has answered
  std::vector<Introduction> introductions_;
  bool replays_ = false;

  Mutex mutex_;
  std::set<int> greeted_ ARGOSY_GUARDED_BY(mutex_);  // servers that have answered
};

}  // namespace argosy::ps
