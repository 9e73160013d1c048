#include "argosy/collective/store.h"

#include <unistd.h>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "argosy/base/socket.h"
#include "argosy/collective/guard.h"

namespace argosy::collective {

Result<c10::intrusive_ptr<c10d::Store>> open_tcp_store(const Address& address, Fd listener, std::chrono::milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(address.port);
  options.isServer = listener.open();
  options.waitWorkers = false;
  options.timeout = timeout;
  // c10d's own socket would listen on every address of the machine. The store closes the one that it is given.
  if (listener.open()) options.masterListenFd = ::dup(listener.get());
  c10::intrusive_ptr<c10d::Store> store;
  RETURN_IF_ERROR(guarded([&] { store = c10::make_intrusive<c10d::TCPStore>(address.host, options); }));
  return store;
}

Result<c10::intrusive_ptr<c10d::Store>> open_store(const RankInfo& place, std::chrono::milliseconds timeout) {
  const Address address{place.master_host, place.master_port};
  Fd listener;
  if (place.rank == 0 && !place.master_is_hosted) {
    auto listening = listen_at(address);
    if (!listening.ok()) {
      return listening.status().with_context(
          "the job's meeting place {} must be an address of this machine with a free port (see MASTER_ADDR, MASTER_PORT, "
          "PADDLE_TRAINER_ENDPOINTS)",
          address.to_string());
    }
    listener = std::move(*listening);
  }
  auto store = open_tcp_store(address, std::move(listener), timeout);
  if (!store.ok())
    return store.status().with_context("rank {}: no meeting at {}, where rank 0 must be", place.rank, address.to_string());
  const std::string prefix = fmt::format("argosy/{}", place.restart);
  return c10::intrusive_ptr<c10d::Store>(c10::make_intrusive<c10d::PrefixStore>(prefix, *store));
}

}  // namespace argosy::collective
