#pragma once

#include <memory>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/launch/line_socket.h"
#include "argosy/launch/message.h"

namespace argosy::launch {

// A launcher's line to the meeting place of its job. Confined to one thread.
class Link {
 public:
  virtual ~Link() = default;

  virtual void send(const Message& message) = 0;
  // What has come since the last call. To be called often: it also keeps the line alive.
  virtual std::vector<Message> receive() = 0;
  // Why there is no line any more; empty while there is one.
  virtual std::string broken() const { return ""; }
};

constexpr double kBeatSeconds = 1;      // between two signs of life on a line
constexpr double kSilenceSeconds = 15;  // after which the other side counts as gone

// To a meeting place on another machine, or of another launcher of this one.
class RemoteLink : public Link {
 public:
  RemoteLink(Fd socket, std::string place) : socket_(std::move(socket)), place_(std::move(place)) {}

  void send(const Message& message) override { socket_.send(message); }
  std::vector<Message> receive() override;
  std::string broken() const override;

 private:
  LineSocket socket_;
  const std::string place_;  // host:port
  Stopwatch since_sent_, since_heard_;
};

}  // namespace argosy::launch
