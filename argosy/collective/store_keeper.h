#pragma once

#include <functional>
#include <string>

#include "argosy/base/address.h"
#include "argosy/base/fd.h"
#include "argosy/base/line_socket.h"
#include "argosy/base/status.h"

namespace argosy::collective {

struct StoreKeeperOptions {
  Address address;       // of the store
  Fd listener;           // where it is hosted here: the socket that listens at the address
  std::string greeting;  // and what is said to those who come
  double seconds = 30;   // how long to wait for a store elsewhere and its greeting
};

// Hosts or joins the c10d store in which launchers meet (collective/meeting_store.h), and carries PostLines between it and a
// launcher until that closes its end; posts then what the launcher has given as its last line. Where the store fails, says
// "lost" to the launcher and returns the error. `each_round` is called several times a second, between two calls of the store.
Status keep_store(LineSocket& launcher, StoreKeeperOptions options, const std::function<void()>& each_round);

}  // namespace argosy::collective
