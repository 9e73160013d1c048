#include "argosy/base/line_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace argosy {
namespace {

constexpr size_t kMostUnsent = 4 << 20;  // of a peer that does not read
constexpr size_t kMostAtOnce = 1 << 20;  // of a peer that does not stop writing

}  // namespace

void LineSocket::close(const std::string& why) {
  if (open()) why_ = why;
  socket_.close();
}

void LineSocket::send(std::string_view line) {
  if (!open()) return;
  to_write_ += line;
  to_write_ += '\n';
  flush();
  if (to_write_.size() > kMostUnsent) close("does not read what it is sent");
}

void LineSocket::flush() {
  while (open() && !to_write_.empty()) {
    const ssize_t sent = ::send(fd(), to_write_.data(), to_write_.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (sent < 0) {
      const std::string why = fmt::format("lost the connection: {}", std::strerror(errno));
      read();  // what the other side said before it went is still there
      return close(why);
    }
    to_write_.erase(0, static_cast<size_t>(sent));
  }
}

void LineSocket::read() {
  char buffer[1 << 14];
  for (size_t total = 0; open() && total < kMostAtOnce;) {
    const ssize_t count = ::recv(fd(), buffer, sizeof buffer, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0)
      return close(count == 0 ? std::string("closed the connection")
                              : fmt::format("lost the connection: {}", std::strerror(errno)));
    read_.append(buffer, static_cast<size_t>(count));
    total += static_cast<size_t>(count);
  }
}

std::vector<std::string> LineSocket::receive() {
  read();
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t end = read_.find('\n'); end != std::string::npos; end = read_.find('\n', begin)) {
    lines.push_back(read_.substr(begin, end - begin));
    begin = end + 1;
  }
  read_.erase(0, begin);
  if (read_.size() > kLongestLine) close("sends a line without end");
  return lines;
}

}  // namespace argosy
