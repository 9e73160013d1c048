#include "argosy/base/uri.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "argosy/base/text.h"

namespace argosy {
namespace {

constexpr std::string_view kMark = "://";
constexpr size_t kShortestScheme = 2;

bool stays(unsigned char c) {
  return std::isalnum(c) != 0 || std::string_view("-._~/=:@!$&'()*+,;").find(static_cast<char>(c)) != std::string_view::npos;
}

bool is_secret(std::string_view parameter) {
  std::string name(parameter.substr(0, parameter.find('=')));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 5> kWords = {"secret", "token", "password", "key", "credential"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

// What stands before the '@' of the authority.
std::string_view user_of(std::string_view uri) {
  const size_t begin = uri.find(kMark) + kMark.size();
  const std::string_view authority = uri.substr(begin, uri.find_first_of("/?", begin) - begin);
  const size_t at = authority.rfind('@');
  return at == std::string_view::npos ? std::string_view() : authority.substr(0, at);
}

// Of abfs it is the container, and gs knows the user "anonymous".
bool has_user_secret(std::string_view uri) {
  const std::string_view user = user_of(uri), scheme = uri_scheme(uri);
  if (user.find(':') != std::string_view::npos) return true;
  return !user.empty() && scheme != "abfs" && scheme != "abfss" && scheme != "hdfs" && scheme != "viewfs" && user != "anonymous";
}

}  // namespace

bool is_uri(std::string_view path) { return !uri_scheme(path).empty(); }

std::string_view uri_scheme(std::string_view path) {
  const size_t end = path.find(kMark);
  if (end == std::string_view::npos || end < kShortestScheme) return {};
  const std::string_view scheme = path.substr(0, end);
  const bool fits = std::ranges::all_of(
      scheme, [](unsigned char c) { return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '+' || c == '-' || c == '.'; });
  return fits ? scheme : std::string_view();
}

std::string local_path(const std::string& path) {
  for (const std::string_view start : {"file:///", "file://localhost/"})
    if (path.starts_with(start)) return "/" + decode_uri_path(std::string_view(path).substr(start.size()));
  return path;
}

std::string_view without_query(std::string_view uri) { return uri.substr(0, uri.find('?')); }

std::string uri_child(std::string_view uri, std::string_view name) {
  std::string_view folder = without_query(uri);
  const std::string_view query = uri.substr(folder.size());
  while (folder.ends_with('/')) folder.remove_suffix(1);
  return fmt::format("{}/{}{}", folder, encode_uri_path(name), query);
}

UriParts split_uri(std::string_view uri) {
  std::string_view path = without_query(uri);
  const std::string_view query = uri.substr(path.size());
  while (path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/'), authority = uri.find(kMark) + kMark.size();
  if (slash == std::string_view::npos || slash < authority) return {.folder = std::string(uri), .name = ""};
  return {.folder = fmt::format("{}{}", path.substr(0, slash), query), .name = decode_uri_path(path.substr(slash + 1))};
}

std::string encode_uri_path(std::string_view path) {
  std::string text;
  for (const char c : path) {
    if (stays(static_cast<unsigned char>(c)))
      text.push_back(c);
    else
      text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

std::string decode_uri_path(std::string_view text) {
  std::string path;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      path.push_back(static_cast<char>(value));
      i += 2;
    } else {
      path.push_back(text[i]);
    }
  }
  return path;
}

Status check_no_secrets(std::string_view uri) {
  const std::string_view path = without_query(uri);
  bool secret = has_user_secret(uri);
  if (path.size() < uri.size()) {
    for (const std::string& parameter : split(uri.substr(path.size() + 1), '&')) secret = secret || is_secret(parameter);
  }
  if (!secret) return {};
  return Status::invalid_argument(
      "a place of {}:// names a user, key, password or token, which would be seen in logs; leave it out of the URI and set the "
      "environment that the store's own tools read, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
      uri_scheme(uri));
}

}  // namespace argosy
