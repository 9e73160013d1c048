#include "argosy/rpc/channel.h"

#include <optional>

#include "argosy/base/mutex.h"

namespace argosy::rpc {

Result<Received> Channel::call_and_wait(Message message, Deadline deadline) {
  Mutex mutex;
  ConditionVariable arrived;
  std::optional<Result<Received>> answer;
  call(std::move(message), deadline, [&](Result<Received> result) {
    MutexLock lock(mutex);
    answer.emplace(std::move(result));
    arrived.notify_one();
  });
  MutexLock lock(mutex);
  arrived.wait(lock, [&] { return answer.has_value(); });  // the call ends by its deadline
  return std::move(*answer);
}

}  // namespace argosy::rpc
