#include <algorithm>

#include "argosy/base/rank_info.h"
#include "argosy/base/text.h"

namespace argosy {
namespace {

constexpr size_t kMostHosts = 1 << 16;  // a list that says more is a mistake

Status not_a_list(const std::string& list) {
  return Status::invalid_argument("'{}' is not a list of machines such as node[01-03],login", list);
}

// "01-03" or "7" behind a prefix; the width of the first number is that of all.
bool add_range(const std::string& prefix, const std::string& range, std::vector<std::string>& hosts) {
  const size_t dash = range.find('-');
  const std::string low = range.substr(0, dash), high = dash == std::string::npos ? low : range.substr(dash + 1);
  const auto first = parse_integer(low), last = parse_integer(high);
  if (!first || !last || *first < 0 || *last < *first || static_cast<size_t>(*last - *first) > kMostHosts) return false;
  const int64_t count = *last - *first + 1;  // counted, because the largest number has no next one
  for (int64_t i = 0; i < count; ++i) hosts.push_back(fmt::format("{}{:0{}}", prefix, *first + i, low.size()));
  return hosts.size() <= kMostHosts;
}

// The commas outside of brackets.
std::vector<std::string> outer_parts(const std::string& list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : list) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

Result<std::vector<std::string>> slurm_hosts(const std::string& list) {
  std::vector<std::string> hosts;
  for (const std::string& part : outer_parts(list)) {
    const size_t open = part.find('['), close = part.find(']');
    if (open == std::string::npos && close == std::string::npos && !part.empty()) {
      hosts.push_back(part);
      continue;
    }
    if (open == std::string::npos || close != part.size() - 1 || close <= open + 1) return not_a_list(list);
    for (const std::string& range : split(part.substr(open + 1, close - open - 1), ','))
      if (!add_range(part.substr(0, open), range, hosts)) return not_a_list(list);
  }
  return hosts;
}

}  // namespace argosy
