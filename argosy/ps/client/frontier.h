#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/ps/spec/messages.pb.h"
#include "argosy/ps/spec/window.h"

namespace argosy::ps {

// What the other workers' batches have to be on each server, as far as this worker knows: at a barrier every worker says which of
// its batches each server has acknowledged. A worker that has passed the barrier may save what the servers hold, and a server
// that lacks some of these batches, because it was started again with less, has to get them again first (messages.proto:
// Compare).
//
// Thread-safe: one lock, held for a few instructions.
class Frontier {
 public:
  Frontier(int servers, int worker) : worker_(worker), servers_(static_cast<size_t>(servers)) {}

  // A worker's part of a barrier on its way: its bytes, and behind them what each server has acknowledged to it.
  static std::string pack(std::string_view bytes, const std::vector<Window>& acknowledged);
  // The bytes again, of the part of `worker`. What it says of the servers is learnt; it never takes anything back.
  std::string learn(int worker, std::string part);

  // What a server has to have, by worker; this worker's own window is empty.
  std::vector<Window> expected(int server) const;
  // Servers of which more was learnt since they were last asked, for the caller to ask them now; of those that do not answer it
  // calls not_asked().
  std::vector<int> take_unasked();
  void not_asked(const std::vector<int>& servers);
  // Nothing more is read from the servers.
  void forget();

 private:
  struct Server {
    std::vector<Window> windows;  // by worker
    bool grown = false;
  };
  void learn_window(size_t server, size_t worker, const Window& window) ARGOSY_REQUIRES(mutex_);

  const int worker_;
  mutable Mutex mutex_;
  std::vector<Server> servers_ ARGOSY_GUARDED_BY(mutex_);
};

}  // namespace argosy::ps
