#include "argosy/launch/seal.h"

#include <fmt/ranges.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>

#include <array>
#include <random>

#include "argosy/base/check.h"

namespace argosy::launch {
namespace {

constexpr std::string_view kVersion = "argosy-meeting-1";
constexpr size_t kCodeSize = 64;  // hexadecimal digits of SHA-256

}  // namespace

Seal Seal::fresh(const std::string& token) {
  std::random_device random;
  return {token, fmt::format("{} {:08x}{:08x}{:08x}{:08x}", kVersion, random(), random(), random(), random())};
}

Result<Seal> Seal::from_greeting(const std::string& token, const std::string& greeting) {
  if (greeting.substr(0, greeting.find(' ')) != kVersion)
    return Status::failed_precondition(
        "the first node greets with '{}', this one knows '{}': start the same version on all nodes", greeting.substr(0, 80),
        kVersion);
  return Seal(token, greeting);
}

std::string Seal::code_of(std::string_view text, std::string_view place) const {
  const std::string all = fmt::format("{}\n{}\n{}", greeting_, place, text);
  std::array<unsigned char, EVP_MAX_MD_SIZE> code{};
  unsigned size = 0;
  const bool made = ::HMAC(EVP_sha256(), token_.data(), static_cast<int>(token_.size()),
                           reinterpret_cast<const unsigned char*>(all.data()), all.size(), code.data(), &size) != nullptr;
  ARGOSY_CHECK(made && size * 2 == kCodeSize, "HMAC-SHA256");
  return fmt::format("{:02x}", fmt::join(code.begin(), code.begin() + size, ""));
}

std::string Seal::sealed(std::string_view text, std::string_view place) const {
  return fmt::format("{} {}", code_of(text, place), text);
}

Result<std::string> Seal::opened(std::string_view sealed, std::string_view place) const {
  if (sealed.size() > kCodeSize && sealed[kCodeSize] == ' ') {
    const std::string_view text = sealed.substr(kCodeSize + 1);
    if (::CRYPTO_memcmp(code_of(text, place).data(), sealed.data(), kCodeSize) == 0) return std::string(text);
  }
  return Status::unauthenticated("the token (ARGOSY_TOKEN) is not this job's");
}

}  // namespace argosy::launch
