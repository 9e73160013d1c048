#include "argosy/collective/store.h"

#include <unistd.h>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "argosy/base/socket.h"
#include "argosy/collective/guard.h"

namespace argosy::collective {

Result<c10::intrusive_ptr<c10d::Store>> open_store(const Place& place, std::chrono::milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(place.master_port);
  options.isServer = place.rank == 0 && !place.master_is_hosted;
  options.waitWorkers = false;
  options.timeout = timeout;
  Fd listener;
  if (options.isServer) {
    // c10d's own socket would listen on every address of the machine.
    auto listening = listen_at({place.master_host, place.master_port});
    if (!listening.ok()) {
      return listening.status().with_context(
          "the job's meeting place {}:{} must be an address of this machine with a free port (see MASTER_ADDR, MASTER_PORT, "
          "PADDLE_TRAINER_ENDPOINTS)",
          place.master_host, place.master_port);
    }
    listener = std::move(*listening);
    options.masterListenFd = ::dup(listener.get());  // the store's own, which it closes
  }
  c10::intrusive_ptr<c10d::Store> store;
  RETURN_IF_ERROR(
      guarded([&] {
        store = c10::make_intrusive<c10d::TCPStore>(place.master_host, options);
      }).with_context("rank {}: no meeting at {}:{}, where rank 0 must be", place.rank, place.master_host, place.master_port));
  const std::string prefix = fmt::format("argosy/{}", place.restart);
  return c10::intrusive_ptr<c10d::Store>(c10::make_intrusive<c10d::PrefixStore>(prefix, store));
}

}  // namespace argosy::collective
