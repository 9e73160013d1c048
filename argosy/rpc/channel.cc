#include "argosy/rpc/channel.h"

#include <condition_variable>
#include <mutex>
#include <optional>

namespace argosy::rpc {

Result<Received> Channel::call_and_wait(Message message, Deadline deadline) {
  std::mutex mutex;
  std::condition_variable arrived;
  std::optional<Result<Received>> answer;
  call(std::move(message), deadline, [&](Result<Received> result) {
    std::lock_guard lock(mutex);
    answer.emplace(std::move(result));
    arrived.notify_one();
  });
  std::unique_lock lock(mutex);
  arrived.wait(lock, [&] { return answer.has_value(); });  // the call ends by its deadline
  return std::move(*answer);
}

}  // namespace argosy::rpc
