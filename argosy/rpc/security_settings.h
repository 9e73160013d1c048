#pragma once

#include "argosy/base/settings.h"
#include "argosy/rpc/security.h"

namespace argosy::rpc {

// What the settings of a job say about it: `token`, and `tls` or `tls_ca`, `tls_certificate` and `tls_key`.
Security security_of(const Settings& settings);

}  // namespace argosy::rpc
