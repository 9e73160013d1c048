#include "argosy/ps/client/frontier.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "argosy/base/mutex.h"
#include "argosy/ps/spec/job_spec_wire.h"

namespace argosy::ps {
namespace {

// Behind the bytes of a part: the message, its size, and this.
constexpr uint32_t kTailMark = 0x544E5246;  // "FRNT"

struct Tail {
  uint32_t bytes = 0;
  uint32_t mark = kTailMark;
};
static_assert(sizeof(Tail) == 8);

}  // namespace

std::string Frontier::pack(std::string_view bytes, const std::vector<Window>& acknowledged) {
  wire::AcknowledgedWindows windows;
  const bool alike = std::ranges::adjacent_find(acknowledged, std::not_equal_to<>()) == acknowledged.end();
  for (size_t i = 0; i < (alike ? 1 : acknowledged.size()); ++i) *windows.add_servers() = to_wire(acknowledged[i]);
  const std::string message = windows.SerializeAsString();
  const Tail tail{.bytes = static_cast<uint32_t>(message.size())};
  std::string part(bytes);
  part += message;
  part.append(reinterpret_cast<const char*>(&tail), sizeof(tail));
  return part;
}

std::string Frontier::learn(int worker, std::string part) {
  Tail tail;
  if (part.size() < sizeof(tail)) return part;
  std::memcpy(&tail, part.data() + part.size() - sizeof(tail), sizeof(tail));
  if (tail.mark != kTailMark || tail.bytes > part.size() - sizeof(tail)) return part;
  const size_t end = part.size() - sizeof(tail) - tail.bytes;
  wire::AcknowledgedWindows windows;
  const bool read = windows.ParseFromArray(part.data() + end, static_cast<int>(tail.bytes));
  part.resize(end);
  if (!read || windows.servers().empty() || worker == worker_) return part;
  MutexLock lock(mutex_);
  for (size_t i = 0; i < servers_.size(); ++i) {
    const int place = windows.servers_size() == 1 ? 0 : static_cast<int>(i);
    if (place < windows.servers_size()) learn_window(i, static_cast<size_t>(worker), from_wire(windows.servers(place)));
  }
  return part;
}

void Frontier::learn_window(size_t server, size_t worker, const Window& window) {
  std::vector<Window>& windows = servers_[server].windows;
  if (windows.size() <= worker) windows.resize(worker + 1);
  bool whole_rounds = false;
  if (windows[worker].lacks(window, whole_rounds).empty() && !whole_rounds) return;
  windows[worker] = window;
  servers_[server].grown = true;
}

std::vector<Window> Frontier::expected(int server) const {
  MutexLock lock(mutex_);
  return servers_[static_cast<size_t>(server)].windows;
}

std::vector<int> Frontier::take_unasked() {
  MutexLock lock(mutex_);
  std::vector<int> servers;
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (std::exchange(servers_[i].grown, false)) servers.push_back(static_cast<int>(i));
  }
  return servers;
}

void Frontier::not_asked(const std::vector<int>& servers) {
  MutexLock lock(mutex_);
  for (const int server : servers) servers_[static_cast<size_t>(server)].grown = true;
}

void Frontier::forget() {
  MutexLock lock(mutex_);
  for (Server& server : servers_) server = {};
}

}  // namespace argosy::ps
