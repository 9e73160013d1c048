#pragma once

#include <filesystem>
#include <string>

#include "argosy/base/status.h"
#include "argosy/rpc/security.h"

namespace argosy::testing {

// Makes a certificate authority called `name`, and a certificate of it for 127.0.0.1 and localhost, as PEM files in `folder`,
// with the openssl program. The same pair serves servers and clients.
Result<rpc::Security> make_certificates(const std::filesystem::path& folder, const std::string& name);

}  // namespace argosy::testing
