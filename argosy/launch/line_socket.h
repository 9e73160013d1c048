#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/fd.h"
#include "argosy/launch/message.h"

namespace argosy::launch {

// A connection that carries messages, one a line. Nothing blocks. What the other side sends may be anything: bytes that are no
// message, a line without end, or more than is read end the connection with a reason. Thread-compatible.
class LineSocket {
 public:
  explicit LineSocket(Fd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }
  bool open() const { return socket_.open(); }
  const std::string& why_closed() const { return why_; }
  bool has_more_to_write() const { return !to_write_.empty(); }

  // Writes what the system takes now; the rest follows with the next call of send() or flush().
  void send(const Message& message);
  void flush();
  // The whole messages that have come.
  std::vector<Message> receive();
  void close(const std::string& why);

 private:
  void read();

  Fd socket_;
  std::string read_, to_write_, why_;
};

}  // namespace argosy::launch
