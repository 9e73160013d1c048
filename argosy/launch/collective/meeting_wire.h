#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/launch/collective/launcher_message.h"

namespace argosy::launch {

// What the launcher of another node sends to the meeting place. It says something ("say"), waits for what is said to it
// ("listen"), or ends ("leave").
struct MeetingCall {
  std::string kind;
  std::string node;    // the identity that it has drawn
  int64_t number = 0;  // say: that of the first message, from 1; otherwise: how many messages it has heard
  std::vector<LauncherMessage> messages = {};  // say
};

// The one method of the meeting place, and the most bytes that a call or an answer may have.
inline constexpr uint16_t kMeetingMethod = 1;
inline constexpr size_t kMostMeetingBytes = size_t{16} << 20;

// As lines of launcher_message.h: first "say node=… number=… version=2", then the messages. Any bytes may come; another version
// is an error that says so.
std::string to_lines(const MeetingCall& call);
Result<MeetingCall> parse_call(std::string_view lines);

// The messages of an answer, a line each.
std::string to_lines(const std::vector<LauncherMessage>& messages);
Result<std::vector<LauncherMessage>> parse_messages(std::string_view lines);

}  // namespace argosy::launch
