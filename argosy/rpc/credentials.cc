#include "argosy/rpc/credentials.h"

#include <cstddef>

#include "argosy/base/file.h"

namespace argosy::rpc {
namespace {

Result<std::string> read_pem(const std::string& path, std::string_view what) {
  auto text = read_file(path);
  if (!text.ok()) return text.status().with_context("TLS {} file", what);
  if (text->find("-----BEGIN ") == std::string::npos) {
    return Status::invalid_argument("TLS {} file {} holds no PEM text (no line '-----BEGIN …')", what, path);
  }
  return text;
}

Status check_pair(const Security& security) {
  if (security.certificate.empty() == security.key.empty()) return Status::ok_status();
  return security.key.empty()
             ? Status::invalid_argument("TLS certificate {} comes without its key; give both", security.certificate)
             : Status::invalid_argument("TLS key {} comes without its certificate; give both", security.key);
}

}  // namespace

Result<std::shared_ptr<grpc::ChannelCredentials>> channel_credentials(const Security& security) {
  if (!security.tls()) return grpc::InsecureChannelCredentials();
  RETURN_IF_ERROR(check_pair(security));
  grpc::SslCredentialsOptions options;
  if (!security.ca.empty()) {
    ASSIGN_OR_RETURN(options.pem_root_certs, read_pem(security.ca, "authority"));
  }
  if (!security.certificate.empty()) {
    ASSIGN_OR_RETURN(options.pem_cert_chain, read_pem(security.certificate, "certificate"));
    ASSIGN_OR_RETURN(options.pem_private_key, read_pem(security.key, "key"));
  }
  return grpc::SslCredentials(options);
}

Result<std::shared_ptr<grpc::ServerCredentials>> server_credentials(const Security& security) {
  if (!security.tls()) return grpc::InsecureServerCredentials();
  RETURN_IF_ERROR(check_pair(security));
  if (security.certificate.empty()) {
    return Status::invalid_argument("TLS authority {} alone makes no server; give its certificate and key as well", security.ca);
  }
  grpc::SslServerCredentialsOptions options(security.ca.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                                                : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  if (!security.ca.empty()) {
    ASSIGN_OR_RETURN(options.pem_root_certs, read_pem(security.ca, "authority"));
  }
  grpc::SslServerCredentialsOptions::PemKeyCertPair pair;
  ASSIGN_OR_RETURN(pair.cert_chain, read_pem(security.certificate, "certificate"));
  ASSIGN_OR_RETURN(pair.private_key, read_pem(security.key, "key"));
  options.pem_key_cert_pairs.push_back(std::move(pair));
  return grpc::SslServerCredentials(options);
}

bool same_token(std::string_view a, std::string_view b) {
  size_t differences = a.size() ^ b.size();
  for (size_t i = 0; i < a.size(); ++i) differences |= static_cast<unsigned char>(a[i] ^ (i < b.size() ? b[i] : 0));
  return differences == 0;
}

}  // namespace argosy::rpc
