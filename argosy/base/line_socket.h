#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/fd.h"

namespace argosy {

constexpr size_t kLongestLine = 1 << 20;

// A connection that carries lines of text. Nothing blocks. What the other side sends may be anything: a line of more than
// kLongestLine bytes, or more than is read, ends the connection with a reason. What came before the end is received after it.
// Thread-compatible.
class LineSocket {
 public:
  explicit LineSocket(Fd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }
  bool open() const { return socket_.open(); }
  const std::string& why_closed() const { return why_; }
  bool has_more_to_write() const { return !to_write_.empty(); }

  // Writes what the system takes now; the rest follows with the next call of send() or flush(). REQUIRES: no end of line in it.
  void send(std::string_view line);
  void flush();
  std::vector<std::string> receive();  // the whole lines that have come, without their ends
  void close(const std::string& why);

 private:
  void read();

  Fd socket_;
  std::string read_, to_write_, why_;
};

}  // namespace argosy
