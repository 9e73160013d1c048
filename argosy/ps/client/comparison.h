#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/ps/client/acknowledged.h"
#include "argosy/ps/client/frontier.h"
#include "argosy/ps/client/session.h"

namespace argosy::ps {

// How a client finds out that a server has less than it should: by heartbeats, by servers that ask for it after a restart, and at
// barriers. messages.proto (Compare) has the protocol. What is found ends all calls of this client, until resume(): nothing more
// is read or published by it.
//
// Thread-safe.
class Comparison {
 public:
  explicit Comparison(Session& session);

  Acknowledged& acknowledged() { return watch_->acknowledged; }

  // A server has answered Hello.
  void greeted(int server, const wire::HelloReply& reply);
  // A server's answer to a push or a leave says that it lacks what it had.
  void lost() { went_back_ = true; }
  bool went_back() const { return went_back_; }

  // Until this server has what it acknowledged to this worker, and what it has to have of the others. `again`: also where it was
  // compared with already.
  Status compare_with(int server, bool again = false);

  // ---- Barriers: a part to send, the bytes of a part that came, and, when all have come, until the servers have what they say.
  std::string pack(std::string_view bytes) const;
  std::string learn(int worker, std::string part) { return frontier_.learn(worker, std::move(part)); }
  Status after_barrier(Deadline deadline);

  // ---- Heartbeats.
  wire::HeartbeatRequest beat(int server) const;
  // What looks at the answer. Valid also after this object is gone: an answer may come late.
  std::function<void(const Result<rpc::Received>& answer, const wire::HeartbeatReply* reply)> on_beat(int server) const;
  // What was found last that ends the calls, which are ended now; it is said once.
  Status act_on_losses();

  // Begins again with what the servers have.
  void resume();
  // Nothing more is read from the servers.
  void stop() { frontier_.forget(); }

 private:
  // Shared with the answers to heartbeats, which may come late.
  struct Watch {
    explicit Watch(int servers) : acknowledged(servers) {}
    // Acknowledged::compare(), and keeps what it finds, as one step: who sees a server's new boot sees the loss as well.
    void compare(int server, const Window& had, const Window& found, uint64_t boot, bool again = false);
    void refused(const Status& status, uint64_t when);

    Acknowledged acknowledged;
    std::atomic<uint64_t> resumed{0};  // how often the client was
    Mutex mutex;
    std::vector<Acknowledged::Loss> losses ARGOSY_GUARDED_BY(mutex);
    Status refusal ARGOSY_GUARDED_BY(mutex);  // of a heartbeat, by a server that has lost everything
  };

  rpc::Message compare_message(int server, uint64_t boot) const;

  Session& session_;
  const std::shared_ptr<Watch> watch_;
  std::atomic<bool> went_back_{false};
  Frontier frontier_;
};

}  // namespace argosy::ps
