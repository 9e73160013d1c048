#include "argosy/base/endpoint_name.h"

#include <filesystem>
#include <string_view>

#include "argosy/base/address.h"
#include "argosy/base/file.h"
#include "argosy/base/text.h"

namespace argosy {
namespace {

constexpr std::string_view kFile = "file:";

}  // namespace

bool is_endpoint_name(const std::string& endpoint) { return endpoint.starts_with(kFile); }

Status check_endpoint(const std::string& endpoint) {
  if (is_endpoint_name(endpoint)) {
    if (endpoint.substr(kFile.size()).starts_with("/")) return {};
    return Status::invalid_argument("endpoint '{}' names no file; expected its whole path, such as file:/shared/job/server-0",
                                    endpoint);
  }
  ASSIGN_OR_RETURN(const Address address, Address::parse(endpoint));
  if (address.port != 0) return {};
  return Status::invalid_argument("endpoint '{}' has no port; expected host:port, or file:/path of a file that holds it",
                                  endpoint);
}

Result<std::string> look_up_endpoint(const std::string& name) {
  const std::string path = name.substr(kFile.size());
  const auto bytes = read_file(path);
  if (!bytes.ok()) {
    return Status::unavailable("'{}' stands for no address yet; who starts the server writes host:port into that file: {}", name,
                               bytes.status().message());
  }
  const std::string endpoint(trim(*bytes));
  if (const Status status = check_endpoint(endpoint); !status.ok() || is_endpoint_name(endpoint))
    return Status::unavailable("file '{}' holds '{}', expected the server's host:port", path, endpoint);
  return endpoint;
}

Status write_endpoint(const std::string& name, const std::string& endpoint) {
  const std::filesystem::path path = is_endpoint_name(name) ? name.substr(kFile.size()) : name;
  if (path.has_parent_path()) RETURN_IF_ERROR(make_folder(path.parent_path()));
  return write_file_atomically(path, endpoint + "\n").with_context("the file that other processes find {} in", endpoint);
}

}  // namespace argosy
