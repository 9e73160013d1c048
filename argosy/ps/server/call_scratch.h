#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/ps/server/server_call.h"

// Calls of a test's own, for what takes calls and answers them.
namespace argosy::ps::scratch {

// Where the answer to a call arrives.
class Answer : public rpc::ReplySink {
 public:
  void finish(Status status, std::string header, std::vector<rpc::Slice>) override {
    MutexLock lock(mutex_);
    result_ = status.ok() ? Result<std::string>(std::move(header)) : Result<std::string>(std::move(status));
    arrived_.notify_all();
  }
  bool cancelled() const override { return gone_; }
  void leave() { gone_ = true; }  // its caller has gone

  bool here() {
    MutexLock lock(mutex_);
    return result_.has_value();
  }
  // As it came, once it has come.
  Result<std::string> text() {
    MutexLock lock(mutex_);
    if (!arrived_.wait_for(lock, std::chrono::seconds(60), [this]() ARGOSY_REQUIRES(mutex_) { return result_.has_value(); }))
      return Status::internal("no answer came");
    return *result_;
  }
  template <typename Reply>
  Result<Reply> get() {
    ASSIGN_OR_RETURN(const std::string bytes, text());
    Reply reply;
    EXPECT_TRUE(reply.ParseFromString(bytes));
    return reply;
  }

 private:
  std::atomic<bool> gone_{false};
  Mutex mutex_;
  ConditionVariable arrived_;
  std::optional<Result<std::string>> result_ ARGOSY_GUARDED_BY(mutex_);
};

struct Asked {
  CallPtr call;
  std::shared_ptr<Answer> answer;
};

template <typename Request>
Asked ask(wire::Method method, const Request& request, double seconds = 60) {
  auto answer = std::make_shared<Answer>();
  return {std::make_shared<Call>(rpc::Request{.method = static_cast<uint16_t>(method),
                                              .header = request.SerializeAsString(),
                                              .payload = {},
                                              .peer = "test",
                                              .deadline = Deadline::after_seconds(seconds)},
                                 rpc::Reply(answer)),
          answer};
}

}  // namespace argosy::ps::scratch
