#include "argosy/rpc/security_settings.h"

#include <filesystem>

namespace argosy::rpc {
namespace {

// The file that a setting names, or the one of this name in the folder `tls`, where it is there. A folder without any of them is
// no reason to go on in clear text: its certificate is named then, and missed by who reads it.
std::string tls_file(const Settings& settings, const char* name, const char* file) {
  const std::filesystem::path folder = settings.text("tls");
  if (!settings.text(name).empty() || folder.empty()) return settings.text(name);
  const bool empty = !std::filesystem::exists(folder / "ca.pem") && !std::filesystem::exists(folder / "certificate.pem");
  return empty || std::filesystem::exists(folder / file) ? (folder / file).string() : "";
}

}  // namespace

Security security_of(const Settings& settings) {
  return {.ca = tls_file(settings, "tls_ca", "ca.pem"),
          .certificate = tls_file(settings, "tls_certificate", "certificate.pem"),
          .key = tls_file(settings, "tls_key", "key.pem"),
          .token = settings.text("token")};
}

}  // namespace argosy::rpc
