#include "argosy/rpc/door_pass.h"

#include <fmt/ranges.h>
#include <openssl/evp.h>

#include <array>

#include "argosy/base/check.h"
#include "argosy/rpc/credentials.h"

namespace argosy::rpc {
namespace {

constexpr std::string_view kSalt = "argosy door 1";
constexpr int kRounds = 10'000;  // a token that somebody made up is not found by trying words at once
constexpr std::string_view kFirstLine = "CONNECT argosy HTTP/1.1\r\n";
constexpr std::string_view kPassHeader = "\r\nProxy-Authorization: Argosy ";
constexpr std::string_view kEnd = "\r\n\r\n";

std::string_view pass_of(std::string_view greeting) {
  const size_t at = greeting.find(kPassHeader);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = greeting.substr(at + kPassHeader.size());
  return rest.substr(0, rest.find("\r\n"));
}

}  // namespace

std::string door_pass(const std::string& token) {
  if (token.empty()) return {};
  std::array<unsigned char, 32> pass{};
  const bool made =
      ::PKCS5_PBKDF2_HMAC(token.data(), static_cast<int>(token.size()), reinterpret_cast<const unsigned char*>(kSalt.data()),
                          static_cast<int>(kSalt.size()), kRounds, EVP_sha256(), static_cast<int>(pass.size()), pass.data()) == 1;
  ARGOSY_CHECK(made, "PBKDF2");
  return fmt::format("{:02x}", fmt::join(pass, ""));
}

std::string greeting_headers(std::string_view pass) {
  return pass.empty() ? "" : fmt::format("Proxy-Authorization:Argosy {}", pass);
}

Greeting judge_greeting(std::string_view said, std::string_view pass) {
  if (said.size() > kLongestGreeting) return Greeting::malformed;
  if (said.substr(0, kFirstLine.size()) != kFirstLine.substr(0, said.size())) return Greeting::malformed;
  const size_t end = said.find(kEnd);
  if (end == std::string_view::npos) return said.size() < kLongestGreeting ? Greeting::incomplete : Greeting::malformed;
  if (end + kEnd.size() != said.size()) return Greeting::malformed;
  return pass.empty() || same_token(pass_of(said), pass) ? Greeting::good : Greeting::wrong_pass;
}

}  // namespace argosy::rpc
