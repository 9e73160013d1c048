#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>

#include "argosy/base/address.h"
#include "argosy/base/fd.h"
#include "argosy/base/rank_info.h"
#include "argosy/base/status.h"

namespace c10d {
class Store;
}

namespace argosy::collective {

// c10d's key-value store at an address. Hosts it on the listening socket where one is given, whose address it must be, and on no
// other address; connects for at most `timeout` otherwise, and waits as long for a key by default.
Result<c10::intrusive_ptr<c10d::Store>> open_tcp_store(const Address& address, Fd listener, std::chrono::milliseconds timeout);

// The meeting place of a job's processes: a-value store that the first process hosts on the address and port of `place`, and on
// no other address; the others connect, for at most `timeout`. Where the launcher hosts one already (torchrun), everybody
// connects. Keys of a restarted group do not meet those of the group before it.
Result<c10::intrusive_ptr<c10d::Store>> open_store(const RankInfo& place, std::chrono::milliseconds timeout);

}  // namespace argosy::collective
