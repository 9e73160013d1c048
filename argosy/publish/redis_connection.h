#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"

struct redisContext;

namespace argosy::publish {

// An answer of Redis: nothing, a number, bytes, or a list of answers.
struct RedisValue {
  enum class Kind { nil, integer, text, list };
  Kind kind = Kind::nil;
  int64_t integer = 0;
  std::string text;
  std::vector<RedisValue> list;

  bool is_nil() const { return kind == Kind::nil; }
};

// One connection to a Redis server, over hiredis, which nobody else sees. Connects when it is first used, and again after it was
// lost: the call during which it is lost fails with `unavailable`, and names the server. An error that Redis answers is
// failed_precondition with Redis' words.
//
// Thread-compatible.
class RedisConnection {
 public:
  // `address`: "host:port". `seconds`: after which a call that is not answered fails.
  RedisConnection(std::string address, double seconds);
  ~RedisConnection();
  RedisConnection(const RedisConnection&) = delete;

  using Words = std::vector<std::string>;
  Result<RedisValue> call(const Words& words);
  // Several at once: sent together, answered together. An error of any is the result.
  Result<std::vector<RedisValue>> call_all(const std::vector<Words>& commands);
  // The same as one transaction: nobody sees a part of it. `aborted` where a key that was WATCHed has changed.
  Result<std::vector<RedisValue>> transact(std::vector<Words> commands);

  const std::string& address() const { return address_; }

 private:
  Status connect();
  Result<RedisValue> receive();
  Status lost(const char* doing);

  const std::string address_;
  const double seconds_;
  struct Closer {
    void operator()(redisContext* context) const;
  };
  std::unique_ptr<redisContext, Closer> context_;  // null: not connected
};

}  // namespace argosy::publish
