#pragma once

#include <functional>

#include "argosy/base/status.h"

namespace argosy::collective {

// Runs what calls torch, whose exceptions become a Status here: deadline_exceeded, unavailable (a peer that went away),
// invalid_argument, or internal. The message is torch's, without its C++ stack.
Status guarded(const std::function<void()>& body);

}  // namespace argosy::collective
