#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>

#include "argosy/base/place.h"
#include "argosy/base/status.h"

namespace c10d {
class Store;
}

namespace argosy::collective {

// The meeting place of a job: a key-value store that the first process hosts on the address and port of `place`, and on no
// other address; the others connect, for at most `timeout`. Where the launcher hosts one already (torchrun), everybody
// connects. Keys of a restarted group do not meet those of the group before it.
Result<c10::intrusive_ptr<c10d::Store>> open_store(const Place& place, std::chrono::milliseconds timeout);

}  // namespace argosy::collective
