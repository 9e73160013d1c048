#include "argosy/publish/redis_connection.h"

#include <hiredis/hiredis.h>

#include <cmath>
#include <utility>

#include "argosy/base/address.h"

namespace argosy::publish {
namespace {

timeval time_of(double seconds) {
  const double whole = std::floor(seconds);
  return {.tv_sec = static_cast<time_t>(whole), .tv_usec = static_cast<suseconds_t>((seconds - whole) * 1e6)};
}

Result<RedisValue> value_of(const redisReply& reply) {
  RedisValue value;
  switch (reply.type) {
    case REDIS_REPLY_NIL: return value;
    case REDIS_REPLY_INTEGER:
      value.kind = RedisValue::Kind::integer;
      value.integer = reply.integer;
      return value;
    case REDIS_REPLY_ERROR: return Status::failed_precondition("{}", std::string(reply.str, reply.len));
    case REDIS_REPLY_ARRAY:
      value.kind = RedisValue::Kind::list;
      for (size_t i = 0; i < reply.elements; ++i) {
        ASSIGN_OR_RETURN(value.list.emplace_back(), value_of(*reply.element[i]));
      }
      return value;
    default:
      value.kind = RedisValue::Kind::text;
      value.text.assign(reply.str, reply.len);
      return value;
  }
}

}  // namespace

void RedisConnection::Closer::operator()(redisContext* context) const { redisFree(context); }

RedisConnection::RedisConnection(std::string address, double seconds) : address_(std::move(address)), seconds_(seconds) {}
RedisConnection::~RedisConnection() = default;

Status RedisConnection::connect() {
  if (context_ != nullptr) return {};
  ASSIGN_OR_RETURN(const Address address, Address::parse_with_port(address_));
  context_.reset(redisConnectWithTimeout(address.host.c_str(), address.port, time_of(seconds_)));
  if (context_ == nullptr || context_->err != 0) return lost("connecting");
  redisSetTimeout(context_.get(), time_of(seconds_));
  return {};
}

// What was sent may have been done: the next call begins with a new connection.
Status RedisConnection::lost(const char* doing) {
  const std::string why = context_ == nullptr ? "no memory" : context_->errstr;
  context_.reset();
  return Status::unavailable("Redis at {}: {} failed: {}", address_, doing, why);
}

Result<RedisValue> RedisConnection::receive() {
  void* received = nullptr;
  if (redisGetReply(context_.get(), &received) != REDIS_OK || received == nullptr) return lost("waiting for an answer");
  const std::unique_ptr<redisReply, void (*)(void*)> reply(static_cast<redisReply*>(received), freeReplyObject);
  return value_of(*reply);
}

Result<RedisValue> RedisConnection::call(const Words& words) {
  ASSIGN_OR_RETURN(auto answers, call_all({words}));
  return std::move(answers.front());
}

Result<std::vector<RedisValue>> RedisConnection::call_all(const std::vector<Words>& commands) {
  RETURN_IF_ERROR(connect());
  for (const Words& words : commands) {
    std::vector<const char*> data;
    std::vector<size_t> sizes;
    for (const std::string& word : words) {
      data.push_back(word.data());
      sizes.push_back(word.size());
    }
    if (redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), data.data(), sizes.data()) != REDIS_OK)
      return lost("sending");
  }
  std::vector<RedisValue> answers;
  Status refused;
  for (const Words& words : commands) {  // all are read, also after one that Redis refuses
    auto answer = receive();
    if (context_ == nullptr) return answer.status();
    if (!answer.ok() && refused.ok()) refused = answer.status().with_context("Redis at {} refuses {}", address_, words.front());
    answers.push_back(answer.ok() ? std::move(*answer) : RedisValue());
  }
  if (!refused.ok()) return refused;
  return answers;
}

Result<std::vector<RedisValue>> RedisConnection::transact(std::vector<Words> commands) {
  commands.insert(commands.begin(), Words{"MULTI"});
  commands.push_back({"EXEC"});
  ASSIGN_OR_RETURN(auto answers, call_all(commands));
  if (answers.back().is_nil()) return Status::aborted("Redis at {}: what was watched has changed", address_);
  return std::move(answers.back().list);
}

}  // namespace argosy::publish
