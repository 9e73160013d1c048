#include "argosy/collective/store.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "argosy/base/fd.h"
#include "argosy/collective/guard.h"

namespace argosy::collective {
namespace {

constexpr int kBacklog = 1024;

// A socket that listens on one address only: c10d's own would listen on all of them.
Result<Fd> listen_on(const std::string& host, int port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  if (const int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); code != 0) {
    return Status::not_found("the job's meeting place {}:{}: {}", host, port, gai_strerror(code));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  Fd fd(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (fd.open()) setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (!fd.open() || ::bind(fd.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(fd.get(), kBacklog) != 0) {
    return Status::unavailable(
        "the job's meeting place {}:{} cannot be opened: {}; it must be an address of this machine with a free port (see "
        "MASTER_ADDR, MASTER_PORT and PADDLE_TRAINER_ENDPOINTS)",
        host, port, std::strerror(errno));
  }
  return fd;
}

}  // namespace

Result<c10::intrusive_ptr<c10d::Store>> open_store(const Place& place, std::chrono::milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(place.master_port);
  options.isServer = place.rank == 0 && !place.master_is_hosted;
  options.waitWorkers = false;
  options.timeout = timeout;
  Fd listener;
  if (options.isServer) {
    ASSIGN_OR_RETURN(listener, listen_on(place.master_host, place.master_port));
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
