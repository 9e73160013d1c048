#include "argosy/launch/link.h"

namespace argosy::launch {

std::vector<Message> RemoteLink::receive() {
  if (since_sent_.seconds() >= kBeatSeconds) {
    socket_.send({.kind = "alive"});
    since_sent_.restart();
  }
  socket_.flush();
  std::vector<Message> messages = socket_.receive();
  if (!messages.empty()) since_heard_.restart();
  if (since_heard_.seconds() > kSilenceSeconds) socket_.close(fmt::format("is silent since {} s", kSilenceSeconds));
  std::erase_if(messages, [](const Message& message) { return message.kind == "alive"; });
  return messages;
}

std::string RemoteLink::broken() const {
  if (socket_.open()) return "";
  return fmt::format("the meeting place {} {}: the launcher of the first node has ended or cannot be reached", place_,
                     socket_.why_closed());
}

}  // namespace argosy::launch
