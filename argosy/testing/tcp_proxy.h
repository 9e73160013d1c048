#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "argosy/base/status.h"

namespace argosy::testing {

// A way to a TCP server that can be made slow, one-way or dead: listens on a port of 127.0.0.1 and passes bytes on to
// 127.0.0.1:`target_port`, both ways. Owns the thread "tcp-proxy". Thread-safe.
class TcpProxy {
 public:
  static Result<std::unique_ptr<TcpProxy>> start(int target_port);
  ~TcpProxy();

  int port() const;
  std::string endpoint() const;  // "127.0.0.1:port"

  void set_delay(std::chrono::milliseconds delay);  // of every byte that arrives from now on, each way
  // Swallows what the server sends. A connection that has lost bytes is of no use: it is reset when this ends.
  void set_lose_answers(bool lose);
  void set_refuse(bool refuse);  // resets new connections at once
  void cut();                    // resets the connections that are open

  uint64_t connections() const;  // accepted so far

 private:
  class Loop;
  explicit TcpProxy(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace argosy::testing
