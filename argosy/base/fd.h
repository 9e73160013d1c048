#pragma once

#include <utility>

namespace argosy {

// A file descriptor with an owner. Movable; thread-compatible.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { close(); }

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void close();
  int release() { return std::exchange(fd_, -1); }  // the caller closes it

 private:
  int fd_ = -1;
};

}  // namespace argosy
