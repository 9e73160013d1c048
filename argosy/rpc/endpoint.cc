#include "argosy/rpc/endpoint.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <memory>

#include "argosy/base/env.h"
#include "argosy/base/status.h"

namespace argosy::rpc {
namespace {

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes;
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 || inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<Addresses> resolve(const std::string& host, int port, int family) {
  addrinfo wanted{};
  wanted.ai_family = family;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (error != 0) return Status::unavailable("the name '{}' has no address: {}", host, gai_strerror(error));
  return Addresses(found, freeaddrinfo);
}

std::optional<std::string> first_address(const std::string& name) {
  const auto found = resolve(name, 0, AF_INET);
  if (!found.ok()) return std::nullopt;
  std::array<char, NI_MAXHOST> text;
  const addrinfo& first = **found;
  if (getnameinfo(first.ai_addr, first.ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
    return std::nullopt;
  return std::string(text.data());
}

bool is_private_folder(const std::string& path) {
  struct stat found;
  return lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() && (found.st_mode & 0077) == 0;
}

std::optional<std::string> socket_folder() {
  std::string path = fmt::format("{}/argosy-{}", env_text("TMPDIR").value_or("/tmp"), geteuid());
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return std::nullopt;
  if (!is_private_folder(path)) return std::nullopt;
  return path;
}

}  // namespace

std::optional<std::string> local_address(const std::string& host) {
  if (is_address(host)) return host;
  std::array<char, 256> own{};
  const bool named = gethostname(own.data(), own.size() - 1) == 0 && host == own.data();
  return named || host == "localhost" ? first_address(host) : std::nullopt;
}

bool is_loopback(const std::string& address) { return address.starts_with("127.") || address == "::1"; }

std::optional<std::string> socket_path(const std::string& address, int port) {
  std::error_code error;
  const std::string space = std::filesystem::read_symlink("/proc/self/ns/net", error).string();  // "net:[4026531840]"
  const auto folder = socket_folder();
  if (error || !folder) return std::nullopt;
  std::string space_number;
  for (const char c : space) {
    if (c >= '0' && c <= '9') space_number += c;
  }
  std::string path = fmt::format("{}/{}_{}_{}", *folder, address, port, space_number);
  if (path.size() >= sizeof(sockaddr_un::sun_path)) return std::nullopt;
  return path;
}

bool is_own_socket(const std::string& path) {
  struct stat found;
  return lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode) && found.st_uid == geteuid();
}

}  // namespace argosy::rpc
