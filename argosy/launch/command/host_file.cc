#include "argosy/launch/command/host_file.h"

#include <algorithm>
#include <sstream>

#include "argosy/base/address.h"
#include "argosy/base/file.h"
#include "argosy/base/text.h"

namespace argosy::launch {
namespace {

constexpr int kMostSlots = 4096;

// The words of a line, without its comment.
std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line.substr(0, line.find('#')));
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Status add_word(const std::string& word, HostFile::Host& host) {
  const size_t equals = word.find('=');
  const std::string name = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
  const auto number = parse_integer(value);
  const bool known = name == "slots" || name == "max_slots" || name == "max-slots";
  if (!known || !number || *number < 1 || *number > kMostSlots)
    return Status::invalid_argument("found '{}', expected slots=N, a number from 1", word);
  if (name == "slots") host.slots = static_cast<int>(*number);
  return {};
}

Result<HostFile::Host> host_of(const std::vector<std::string>& words) {
  HostFile::Host host{.name = words[0]};
  const auto address = Address::parse(host.name);
  if (!address.ok() || address->port != 0 || host.name.find('=') != std::string::npos)
    return Status::invalid_argument("found '{}', expected a host's name or address, and behind it slots=N", host.name);
  for (size_t i = 1; i < words.size(); ++i) RETURN_IF_ERROR(add_word(words[i], host));
  return host;
}

void add_host(HostFile::Host host, std::vector<HostFile::Host>& hosts) {
  const auto same = std::ranges::find(hosts, host.name, &HostFile::Host::name);
  if (same == hosts.end()) {
    hosts.push_back(std::move(host));
  } else {
    same->slots = std::max(same->slots, 1) + std::max(host.slots, 1);
  }
}

}  // namespace

Result<HostFile> HostFile::parse(const std::string& text, const std::string& path) {
  HostFile file{.path = path, .hosts = {}};
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) continue;
    auto host = host_of(words);
    if (!host.ok()) return host.status().with_context("{}:{}", path, number);
    add_host(std::move(*host), file.hosts);
  }
  if (!file.hosts.empty()) return file;
  return Status::invalid_argument("'{}' lists no host; expected a line for each, such as node1 slots=4", path);
}

Result<HostFile> HostFile::read(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  return parse(text, path);
}

}  // namespace argosy::launch
