#include "argosy/launch/collective/meeting_wire.h"

#include <algorithm>

#include "argosy/base/text.h"

namespace argosy::launch {
namespace {

constexpr const char* kVersion = "2";
constexpr size_t kMostNodeBytes = 64;

}  // namespace

std::string to_lines(const std::vector<LauncherMessage>& messages) {
  std::string lines;
  for (const LauncherMessage& message : messages) lines += to_line(message) + "\n";
  return lines;
}

Result<std::vector<LauncherMessage>> parse_messages(std::string_view lines) {
  std::vector<LauncherMessage> messages;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    ASSIGN_OR_RETURN(LauncherMessage message, parse_line(lines.substr(0, end)));
    messages.push_back(std::move(message));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return messages;
}

std::string to_lines(const MeetingCall& call) {
  const LauncherMessage first{.kind = call.kind,
                              .fields = {{"version", kVersion}, {"node", call.node}, {"number", std::to_string(call.number)}}};
  return to_line(first) + "\n" + to_lines(call.messages);
}

Result<MeetingCall> parse_call(std::string_view lines) {
  ASSIGN_OR_RETURN(std::vector<LauncherMessage> messages, parse_messages(lines));
  if (messages.empty()) return Status::invalid_argument("a call without a line is no call of a launcher");
  const LauncherMessage first = std::move(messages.front());
  messages.erase(messages.begin());
  if (first.text("version") != kVersion)
    return Status::failed_precondition(
        "the first node's launcher speaks version {} and this one version '{}': start the same version on all nodes", kVersion,
        first.text("version"));
  const auto number = parse_integer(first.text("number"));
  const std::string node = first.text("node");
  if (!number || *number < 0 || node.empty() || node.size() > kMostNodeBytes)
    return Status::invalid_argument("'{}' is no call of a launcher", to_line(first));
  return MeetingCall{.kind = first.kind, .node = node, .number = *number, .messages = std::move(messages)};
}

}  // namespace argosy::launch
