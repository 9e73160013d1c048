#pragma once

#include <gtest/gtest.h>

#include <string>

#include "argosy/base/poll.h"
#include "argosy/launch/collective/meeting.h"

// What tests of a meeting do as a node: join, and wait for what comes.
namespace argosy::launch {

inline constexpr double kSeconds = 60;

inline LauncherMessage join_message(const std::string& endpoint) {
  return {.kind = "join", .fields = {{"job", ""}, {"rank", "-1"}, {"endpoints", endpoint}}};
}

inline void wait_a_moment(NodeLink& link) { wait_readable(link.fd(), Deadline::after_seconds(0.05)); }

// Why the line is broken, once it is.
inline std::string wait_for_break(NodeLink& link) {
  const Deadline deadline = Deadline::after_seconds(kSeconds);
  for (; !deadline.passed() && link.broken().empty(); wait_a_moment(link)) link.receive();
  return link.broken();
}

// The next message of this kind.
inline LauncherMessage wait_for(NodeLink& link, const std::string& kind) {
  for (const Deadline deadline = Deadline::after_seconds(kSeconds); !deadline.passed(); wait_a_moment(link)) {
    for (const LauncherMessage& message : link.receive()) {
      if (message.kind == kind) return message;
    }
    if (!link.broken().empty()) break;
  }
  ADD_FAILURE() << "no '" << kind << "' came; " << link.broken();
  return {};
}

}  // namespace argosy::launch
