#include "argosy/testing/certificates.h"

#include <cstdlib>

#include "argosy/base/file.h"

namespace argosy::testing {
namespace {

Status run(const std::string& command) {
  // NOLINTNEXTLINE(bugprone-command-processor): words of this file, and a test alone
  if (std::system((command + " > /dev/null 2>&1").c_str()) == 0) return Status::ok_status();
  return Status::internal("'{}' failed; is openssl installed?", command);
}

}  // namespace

Result<rpc::Security> make_certificates(const std::filesystem::path& folder, const std::string& name) {
  const std::string base = folder / name;
  const rpc::Security made{.ca = base + ".ca.pem", .certificate = base + ".pem", .key = base + ".key"};
  const std::string new_key = "openssl req -newkey rsa:2048 -nodes -days 2 ";
  RETURN_IF_ERROR(run(fmt::format("{} -x509 -subj '/CN={} authority' -keyout {}.ca.key -out {}", new_key, name, base, made.ca)));
  RETURN_IF_ERROR(run(fmt::format("{} -subj '/CN={}' -keyout {} -out {}.csr", new_key, name, made.key, base)));
  RETURN_IF_ERROR(write_file_atomically(base + ".ext", "subjectAltName=IP:127.0.0.1,DNS:localhost\n"));
  RETURN_IF_ERROR(
      run(fmt::format("openssl x509 -req -in {0}.csr -CA {1} -CAkey {0}.ca.key -CAcreateserial -days 2 -extfile {0}.ext -out {2}",
                      base, made.ca, made.certificate)));
  return made;
}

}  // namespace argosy::testing
