#pragma once

#include <string>
#include <vector>

#include "argosy/launch/collective/launcher_message.h"

namespace argosy::launch {

// A launcher's line to the meeting place of its job. Messages arrive once each, in order. Confined to one thread.
class NodeLink {
 public:
  virtual ~NodeLink() = default;

  virtual void send(const LauncherMessage& message) = 0;
  // What has come since the last call. To be called often, 10 times per second at least: it also keeps the line alive.
  virtual std::vector<LauncherMessage> receive() = 0;
  // Readable where something has come.
  virtual int fd() const = 0;
  // Why there is no line any more; empty while there is one.
  virtual std::string broken() const { return ""; }
};

constexpr double kListenSeconds = 1;    // after which one who listens is answered, with nothing where there is nothing
constexpr double kSilenceSeconds = 15;  // after which the other side counts as gone

}  // namespace argosy::launch
