#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"

namespace argosy::launch {

// What the launchers of a job say to each other: a kind and named fields, as one line of text:
//   start round=1 node=0 resume=/data/epoch%203
// A plain value.
struct LauncherMessage {
  std::string kind;
  std::map<std::string, std::string> fields = {};

  std::string text(const std::string& name) const;     // empty where there is no such field
  Result<int> number(const std::string& name) const;   // a whole number from -1
  std::vector<std::string> list(const std::string& name) const;  // at commas

  friend bool operator==(const LauncherMessage&, const LauncherMessage&) = default;
};

// Everything but letters, digits and -._:,;[]/ is written as %XX.
std::string to_line(const LauncherMessage& message);

// REQUIRES: `line` has no end of line. Any bytes may come: what to_line() would not write is an error.
Result<LauncherMessage> parse_line(std::string_view line);

}  // namespace argosy::launch
