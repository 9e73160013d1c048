#pragma once

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>
#include <string_view>

#include "argosy/base/status.h"
#include "argosy/rpc/security.h"

namespace argosy::rpc {

// The request metadata that carries the job's token.
inline constexpr const char* kTokenKey = "argosy-token-bin";

// gRPC's form of a Security. Errors name the file that cannot be read or the field that is missing.
Result<std::shared_ptr<grpc::ChannelCredentials>> channel_credentials(const Security& security);
Result<std::shared_ptr<grpc::ServerCredentials>> server_credentials(const Security& security);

// Compares in a time that does not tell how much of the token was right.
bool same_token(std::string_view a, std::string_view b);

}  // namespace argosy::rpc
