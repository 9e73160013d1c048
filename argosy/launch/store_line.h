#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "argosy/base/address.h"
#include "argosy/base/line_socket.h"
#include "argosy/base/post.h"

namespace argosy::launch {

// A launcher's line to the c10d store of its job, which the program argosy-store beside this one hosts or joins: the launcher
// itself has no torch in it, and cannot be held up by a store that does not answer. The destructor closes the line, waits a
// moment for the program to post what was left to it, and kills it then; it ends by itself when the launcher is killed.
// Thread-compatible.
class StoreLine {
 public:
  // On the first node: the store listens on this socket, which is that of `address`.
  static Result<StoreLine> host(const Address& address, Fd listener, const std::string& greeting);
  // On another one: waits for the greeting at most so long.
  static Result<StoreLine> join(const Address& address, double seconds);

  // Of a connection that somebody else has made; `pid` is 0 where no process belongs to it.
  StoreLine(Fd socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}
  StoreLine(StoreLine&& other) noexcept;
  StoreLine& operator=(StoreLine&&) = delete;
  ~StoreLine();

  int fd() const { return socket_.fd(); }
  void send(const PostLine& line) { socket_.send(to_line(line)); }
  std::vector<PostLine> receive();  // what has come; also writes what is still to be written
  // Why there is no store any more; empty while there is one.
  std::string broken() const;

 private:
  LineSocket socket_;
  std::string lost_;
  pid_t pid_;
};

}  // namespace argosy::launch
