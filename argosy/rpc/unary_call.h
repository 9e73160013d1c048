#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/generic/async_generic_service.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/rpc/unary_method.h"
#include "argosy/rpc/work_pool.h"

namespace argosy::rpc {

// What the calls of a server share; constant once it listens, but for the counts.
struct UnaryShared {
  UnaryShared(const UnaryServerOptions& server_options, UnaryMethods server_methods)
      : options(server_options),
        methods(std::move(server_methods)),
        calls("rpc-unary", options.max_calls),
        urgent("rpc-status", 1) {}

  const UnaryServerOptions options;
  const UnaryMethods methods;
  std::atomic<int> calls_open{0}, urgent_open{0};
  WorkPool calls, urgent;
};

// One call, from its opening to its end: reads the request, hands it to a pool, and answers. One that is refused is answered
// before its request is read. Kept by gRPC's view of it (until OnDone) and by the work that it gave the pool. Thread-safe.
class UnaryCall final : public grpc::ServerGenericBidiReactor, public std::enable_shared_from_this<UnaryCall> {
 public:
  static UnaryCall* open(std::shared_ptr<UnaryShared> shared, grpc::GenericCallbackServerContext* context);
  explicit UnaryCall(std::shared_ptr<UnaryShared> shared) : shared_(std::move(shared)) {}
  ~UnaryCall() override;

  void OnReadDone(bool ok) override;
  void OnDone() override { self_.reset(); }

 private:
  Status admit(const std::string& path);
  void begin(const grpc::GenericCallbackServerContext& context);
  void handle();
  void finish(Result<std::string> answer);  // does nothing the second time

  const std::shared_ptr<UnaryShared> shared_;
  const UnaryMethod* method_ = nullptr;  // constant after open()
  std::atomic<int>* counted_ = nullptr;  // where this call is counted; the same
  std::optional<Deadline> deadline_;     // the caller's; the same
  grpc::Alarm too_slow_;
  grpc::ByteBuffer message_;
  Mutex mutex_;
  bool finished_ ARGOSY_GUARDED_BY(mutex_) = false;
  std::shared_ptr<UnaryCall> self_;  // until OnDone
};

}  // namespace argosy::rpc
