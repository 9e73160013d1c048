#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/step_gradients.h"
#include "argosy/ps/spec/window.h"

namespace argosy::ps {

// What each server has acknowledged to this worker: so that a server that was started again with less is found out.
//
// Thread-safe: one lock, held for a few instructions.
class Acknowledged {
 public:
  explicit Acknowledged(int servers) : servers_(static_cast<size_t>(servers)) {}

  // What a server said of itself in Hello.
  void greeted(int server, const Window& window, uint64_t boot, bool may_lose);

  // It has these batches of one round. False: another process of the server is known by now than `boot`, and was compared with
  // what was acknowledged without them.
  bool add(int server, std::span<const BatchId> batches, uint64_t boot);
  // It goes on without them, by choice.
  void add_late(int server, std::span<const BatchId> batches, uint64_t samples);
  // It has recorded the round, with so many batches in it.
  void leave(int server, uint32_t round, uint32_t batches);

  Window window(int server) const;
  std::vector<Window> windows() const;  // by server
  uint64_t boot(int server) const;

  struct Late {
    std::set<uint32_t> batches;
    uint64_t samples = 0;
  };
  Late late(int server, uint32_t round) const;

  // What a server lacks that it had acknowledged.
  struct Loss {
    int server = 0;
    uint64_t batches = 0;
    std::vector<uint32_t> listed;  // numbers of those of the round `round`
    uint32_t round = 0;
    uint32_t first_round = 0;  // below `round`: whole passes are gone as well, from this one on
    bool allowed = false;      // by its durability
  };
  static std::string describe(const Loss& loss);

  // Compares what a server said that it has with what it had acknowledged before it was asked. A server of another boot is known
  // by it from now on; one of the same is looked at only `again`.
  std::optional<Loss> compare(int server, const Window& acknowledged, const Window& found, uint64_t boot, bool again = false);

 private:
  struct Server {
    Window window;
    uint64_t boot = 0;
    bool may_lose = false;
    std::map<uint32_t, uint32_t> sizes;  // of rounds that were left, the last ones
    uint32_t late_round = 0;
    Late late;  // of late_round
  };

  Server& at(int server) ARGOSY_REQUIRES(mutex_) { return servers_[static_cast<size_t>(server)]; }
  const Server& at(int server) const ARGOSY_REQUIRES(mutex_) { return servers_[static_cast<size_t>(server)]; }

  mutable Mutex mutex_;
  std::vector<Server> servers_ ARGOSY_GUARDED_BY(mutex_);
};

}  // namespace argosy::ps
