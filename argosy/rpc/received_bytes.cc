#include "argosy/rpc/received_bytes.h"

#include <linux/tcp.h>  // <netinet/tcp.h> has a shorter tcp_info, and the two do not go together
#include <netinet/in.h>
#include <sys/socket.h>

namespace argosy::rpc {

uint64_t received_bytes(const Fd& connection) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(connection.get(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_bytes_received : 0;
}

}  // namespace argosy::rpc
