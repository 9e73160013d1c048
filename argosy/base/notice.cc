#include "argosy/base/notice.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "argosy/base/clock.h"
#include "argosy/base/env.h"
#include "argosy/base/poll.h"
#include "argosy/base/text.h"

namespace argosy {
namespace {

constexpr size_t kMostBytes = 4000;          // of one notice
constexpr size_t kMostReportBytes = 64 << 10;  // of a report; lines beyond it are left out
constexpr int kMostAtOnce = 64;       // that one receive() takes
constexpr char kConsequence = 'c', kJoined = 'j', kLeft = 'l', kWriting = 'o', kReport = 'r', kRank = 'k';
constexpr double kLeftSeconds = 5;  // to say that this process has left its job
constexpr std::pair<char, Notice::Kind> kKinds[] = {
    {kConsequence, Notice::Kind::consequence}, {kJoined, Notice::Kind::joined}, {kLeft, Notice::Kind::left},
    {kWriting, Notice::Kind::writing},         {kReport, Notice::Kind::report}, {kRank, Notice::Kind::rank}};
constexpr std::string_view kLevels = "diwe";  // a line begins with the letter of its level

bool is_socket(int fd, ino_t inode) {
  struct stat found{};
  return ::fstat(fd, &found) == 0 && S_ISSOCK(found.st_mode) && found.st_ino == inode;
}

// The descriptor to the launcher, or -1. It is closed in what this process starts.
int descriptor_of_launcher() {
  const auto value = env_text(NoticeReceiver::kVariable);
  const auto parts = split(value.value_or(""), ':');
  if (parts.size() != 2) return -1;
  const auto fd = parse_integer(parts[0]), inode = parse_integer(parts[1]);
  if (!fd || *fd <= STDERR_FILENO || *fd > (1 << 20) || !inode) return -1;
  const int descriptor = static_cast<int>(*fd);
  if (!is_socket(descriptor, static_cast<ino_t>(*inode))) return -1;
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
}

int launcher() {
  static const int descriptor = descriptor_of_launcher();
  return descriptor;
}

// Before main(), and so before this process starts anything that would inherit it.
[[maybe_unused]] const int at_start = launcher();

// Whether the launcher will read it, as far as that is known.
bool send_message(const std::string& message) {
  if (launcher() < 0) return true;
  return ::send(launcher(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno != EAGAIN;
}

// One line: what would break it becomes a space.
bool send(char kind, std::string_view text) {
  std::string message(1, kind);
  message += text.substr(0, kMostBytes);
  std::replace_if(message.begin(), message.end(), [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  return send_message(message);
}

std::optional<Notice> parsed(std::string_view message) {
  if (message.size() < 2) return std::nullopt;
  Notice notice{.text = std::string(message.substr(1))};
  for (const auto& [letter, kind] : kKinds) {
    if (message[0] != letter) continue;
    notice.kind = kind;
    return notice;
  }
  const size_t level = kLevels.find(message[0]);
  if (level == std::string_view::npos) return std::nullopt;
  notice.level = static_cast<LogLevel>(level);
  return notice;
}

}  // namespace

void notice_line(LogLevel level, std::string_view text) {
  log_line(level, text);
  send(kLevels[static_cast<size_t>(level)], text);
}

void notice_consequence(std::string_view of) { send(kConsequence, of); }
void notice_joined(std::string_view job) { send(kJoined, job); }
void notice_writing(std::string_view folder) { send(kWriting, folder); }
bool notice_rank(std::string_view word) { return send(kRank, word); }
bool has_launcher() { return launcher() >= 0; }

std::optional<std::string> hear_launcher(Deadline deadline, int wake) {
  pollfd sources[] = {{.fd = wake, .events = POLLIN, .revents = 0}, {.fd = launcher(), .events = POLLIN, .revents = 0}};
  if (!poll_until(sources, deadline) || sources[0].revents != 0) return std::nullopt;
  std::string word(kMostBytes, '\0');
  const ssize_t count = ::recv(launcher(), word.data(), word.size(), MSG_DONTWAIT);
  if (count == 0) wait_readable(wake, deadline);  // the launcher has gone: its end stays readable, and nothing comes any more
  if (count <= 0) return std::nullopt;
  word.resize(static_cast<size_t>(count));
  return word;
}

void notice_report(std::string_view numbers) {
  if (numbers.size() > kMostReportBytes) numbers = numbers.substr(0, numbers.rfind('\n', kMostReportBytes - 1) + 1);
  send_message(kReport + std::string(numbers));
}

void notice_left(std::string_view job) {
  const Deadline deadline = Deadline::after_seconds(kLeftSeconds);
  while (!send(kLeft, job) && !deadline.passed()) {
    pollfd room{.fd = launcher(), .events = POLLOUT, .revents = 0};
    ::poll(&room, 1, 100);
  }
}

Result<NoticeReceiver> NoticeReceiver::open() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return Status::resource_exhausted("no socket for a process's notices: {}", std::strerror(errno));
  Fd own(ends[0]), other(ends[1]);
  Fd process_end(::fcntl(other.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  struct stat found{};
  if (!process_end.open() || ::fstat(process_end.get(), &found) != 0)
    return Status::resource_exhausted("no descriptor for a process's notices: {}", std::strerror(errno));
  std::string value = fmt::format("{}:{}", process_end.get(), found.st_ino);
  return NoticeReceiver(std::move(own), std::move(process_end), std::move(value));
}

std::vector<Notice> NoticeReceiver::receive() {
  std::vector<Notice> notices;
  std::string bytes(kMostReportBytes + 1, '\0');
  for (int i = 0; i < kMostAtOnce; ++i) {
    const ssize_t count = ::recv(own_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) own_.close();  // the process has, and says no more
    if (count <= 0) break;
    if (auto notice = parsed({bytes.data(), static_cast<size_t>(count)})) notices.push_back(std::move(*notice));
  }
  return notices;
}

bool NoticeReceiver::tell(std::string_view word) const {
  if (!own_.open() || word.size() > kMostBytes) return false;
  return ::send(own_.get(), word.data(), word.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

}  // namespace argosy
