#include "argosy/data/byte_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace argosy::data {
namespace {

class FdStream : public ByteStream {
 public:
  FdStream(Fd fd, std::string name, const StopSignal& stop) : fd_(std::move(fd)), name_(std::move(name)), stop_(stop) {}

  Result<size_t> read(std::span<char> room) override {
    for (;;) {
      RETURN_IF_ERROR(wait_readable(fd_.get(), stop_));
      const ssize_t got = ::read(fd_.get(), room.data(), room.size());
      if (got >= 0) return static_cast<size_t>(got);
      if (errno == EINTR || errno == EAGAIN) continue;
      return Status::unavailable("cannot read '{}': {}", name_, system_reason(errno));
    }
  }

 private:
  Fd fd_;
  const std::string name_;
  const StopSignal& stop_;
};

}  // namespace

StopSignal::StopSignal() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Status StopSignal::status() const {
  if (event_.open()) return {};
  return Status::resource_exhausted("no file descriptor is left to read data with; raise the limit (ulimit -n)");
}

void StopSignal::stop() {
  stopped_.store(true, std::memory_order_release);
  const uint64_t one = 1;
  // A full counter is readable already, which is all that is wanted.
  [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof(one));
}

Result<Fd> open_for_reading(const std::string& path) {
  // Without O_NONBLOCK the open of a named pipe would wait for its writer, where no stop() reaches.
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.open()) {
    const Code code = errno == ENOENT || errno == ENOTDIR ? Code::not_found
                      : errno == EACCES                   ? Code::permission_denied
                                                          : Code::unavailable;
    return Status(code, fmt::format("cannot open data file '{}': {}", path, system_reason(errno)));
  }
  struct stat info{};
  if (::fstat(fd.get(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return Status::invalid_argument("data file '{}' is a folder; name the files in it", path);
  }
  return fd;
}

std::unique_ptr<ByteStream> read_fd(Fd fd, std::string name, const StopSignal& stop) {
  return std::make_unique<FdStream>(std::move(fd), std::move(name), stop);
}

Status wait_readable(int fd, const StopSignal& stop) {
  pollfd waits[] = {{.fd = fd, .events = POLLIN, .revents = 0}, {.fd = stop.fd(), .events = POLLIN, .revents = 0}};
  while (::poll(waits, 2, -1) < 0) {
    if (errno != EINTR) return Status::internal("poll failed: {}", system_reason(errno));
  }
  if (waits[1].revents != 0) return Status::cancelled("reading was stopped");
  return {};
}

std::string system_reason(int error) { return std::system_category().message(error); }

}  // namespace argosy::data
