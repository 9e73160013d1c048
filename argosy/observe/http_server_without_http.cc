#include "argosy/observe/http_server.h"

namespace argosy::observe {
namespace {

Status not_built() {
  return Status::unimplemented("this build has no HTTP: it was made without cpp-httplib (Debian: libcpp-httplib-dev)");
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const Address&, HttpPages) { return not_built(); }
Result<std::string> http_get(const std::string&, double) { return not_built(); }

}  // namespace argosy::observe
