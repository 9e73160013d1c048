#include "argosy/launch/line_socket.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace argosy::launch {
namespace {

constexpr size_t kMostUnsent = 4 << 20;  // of a peer that does not read
constexpr size_t kMostAtOnce = 1 << 20;  // of a peer that does not stop writing

}  // namespace

void LineSocket::close(const std::string& why) {
  if (open()) why_ = why;
  socket_.close();
}

void LineSocket::send(const Message& message) {
  if (!open()) return;
  to_write_ += to_line(message);
  flush();
  if (to_write_.size() > kMostUnsent) close("does not read what it is sent");
}

void LineSocket::flush() {
  while (open() && !to_write_.empty()) {
    const ssize_t sent = ::send(fd(), to_write_.data(), to_write_.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (sent < 0) return close(fmt::format("lost the connection: {}", std::strerror(errno)));
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

std::vector<Message> LineSocket::receive() {
  read();
  std::vector<Message> messages;
  size_t begin = 0;
  for (size_t end = read_.find('\n'); end != std::string::npos; end = read_.find('\n', begin)) {
    auto message = parse_line(std::string_view(read_).substr(begin, end - begin));
    if (!message.ok()) {
      close(message.status().message());
      return messages;
    }
    messages.push_back(std::move(*message));
    begin = end + 1;
  }
  read_.erase(0, begin);
  if (read_.size() > kLongestLine) close("sends a line without end");
  return messages;
}

}  // namespace argosy::launch
