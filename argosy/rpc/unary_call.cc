#include "argosy/rpc/unary_call.h"

#include <exception>
#include <utility>
#include <vector>

namespace argosy::rpc {
namespace {

std::string joined(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!message.Valid() || !message.Dump(&slices).ok()) return bytes;
  bytes.reserve(message.Length());
  for (const grpc::Slice& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

// An answer, whatever the handler does.
Result<std::string> answer_of(const UnaryMethod& method, UnaryRequest request) {
  try {
    return method.handler(std::move(request));
  } catch (const std::exception& error) {
    return Status(Code::internal, error.what());
  }
}

// None where the caller set no deadline, which gRPC calls one in the far future.
std::optional<Deadline> deadline_of(const grpc::GenericCallbackServerContext& context) {
  constexpr std::chrono::hours kFar{24 * 365};
  const auto left = context.deadline() - std::chrono::system_clock::now();
  if (left > kFar) return std::nullopt;
  return Deadline::after(left);
}

}  // namespace

UnaryCall* UnaryCall::open(std::shared_ptr<UnaryShared> shared, grpc::GenericCallbackServerContext* context) {
  auto call = std::make_shared<UnaryCall>(std::move(shared));
  call->self_ = call;
  call->begin(*context);
  return call.get();
}

UnaryCall::~UnaryCall() {
  if (counted_ != nullptr) --*counted_;
}

void UnaryCall::begin(const grpc::GenericCallbackServerContext& context) {
  if (Status refused = admit(context.method()); !refused.ok()) return finish(std::move(refused));
  deadline_ = deadline_of(context);
  const auto read_time = shared_->options.read_time;
  too_slow_.Set(std::chrono::system_clock::now() + read_time, [call = weak_from_this(), read_time](bool rang) {
    const auto slow = rang ? call.lock() : nullptr;
    if (slow != nullptr) slow->finish(Status::deadline_exceeded("the request did not arrive in {} ms", read_time.count()));
  });
  StartRead(&message_);
}

Status UnaryCall::admit(const std::string& path) {
  const auto found = shared_->methods.find(path);
  if (found == shared_->methods.end()) {
    std::string known;
    for (const auto& [name, method] : shared_->methods) known += (known.empty() ? "" : ", ") + name;
    return Status::unimplemented("there is no method '{}' here; there are {}", path, known);
  }
  method_ = &found->second;
  std::atomic<int>& open = method_->urgent ? shared_->urgent_open : shared_->calls_open;
  if (++open <= shared_->options.max_calls) {
    counted_ = &open;
    return {};
  }
  --open;
  return Status::unavailable("{} calls are under way already ({}); ask again later", shared_->options.max_calls,
                             shared_->options.calls_limit);
}

void UnaryCall::OnReadDone(bool ok) {
  too_slow_.Cancel();
  if (!ok) return finish(Status::invalid_argument("the call ended before its request"));
  WorkPool& pool = method_->urgent ? shared_->urgent : shared_->calls;
  pool.add(reinterpret_cast<uintptr_t>(this), [call = shared_from_this()] { call->handle(); });
}

void UnaryCall::handle() {
  UnaryRequest request{.bytes = joined(message_), .wait = std::nullopt};
  message_.Clear();
  if (deadline_) request.wait = deadline_->when() - SteadyClock::now();
  finish(answer_of(*method_, std::move(request)));
}

void UnaryCall::finish(Result<std::string> answer) {
  MutexLock lock(mutex_);
  if (std::exchange(finished_, true)) return;
  lock.unlock();
  if (!answer.ok()) {
    const Status& status = answer.status();
    return Finish(grpc::Status(static_cast<grpc::StatusCode>(status.code()), status.message()));
  }
  const grpc::Slice bytes(*answer);
  message_ = grpc::ByteBuffer(&bytes, 1);
  StartWriteAndFinish(&message_, {}, grpc::Status::OK);
}

}  // namespace argosy::rpc
