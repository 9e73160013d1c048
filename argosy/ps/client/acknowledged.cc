#include "argosy/ps/client/acknowledged.h"

#include <fmt/format.h>

#include "argosy/base/counted.h"
#include "argosy/base/mutex.h"
#include "argosy/base/text.h"
#include "argosy/ps/spec/pass_book.h"

namespace argosy::ps {
namespace {

constexpr size_t kSizes = 1000;  // rounds whose sizes are kept

}  // namespace

void Acknowledged::greeted(int server, const Window& window, uint64_t boot, bool may_lose) {
  MutexLock lock(mutex_);
  at(server).window = window;
  at(server).boot = boot;
  at(server).may_lose = may_lose;
  at(server).late = {};  // what is not in the window is trained again
}

bool Acknowledged::add(int server, std::span<const BatchId> batches, uint64_t boot) {
  MutexLock lock(mutex_);
  at(server).window.add(batches);
  return at(server).boot == boot;
}

void Acknowledged::add_late(int server, std::span<const BatchId> batches, uint64_t samples) {
  if (batches.empty()) return;
  MutexLock lock(mutex_);
  Server& one = at(server);
  if (const uint32_t round = round_of(batches.front()); one.late_round != round) {
    one.late_round = round;
    one.late = {};
  }
  for (const BatchId batch : batches) one.late.batches.insert(index_of(batch));
  one.late.samples += samples;
}

void Acknowledged::leave(int server, uint32_t round, uint32_t batches) {
  MutexLock lock(mutex_);
  Server& one = at(server);
  one.window.leave(round);
  one.sizes[round] = batches;
  if (one.sizes.size() > kSizes) one.sizes.erase(one.sizes.begin());
}

Window Acknowledged::window(int server) const {
  MutexLock lock(mutex_);
  return at(server).window;
}

std::vector<Window> Acknowledged::windows() const {
  MutexLock lock(mutex_);
  std::vector<Window> windows;
  for (const Server& server : servers_) windows.push_back(server.window);
  return windows;
}

uint64_t Acknowledged::boot(int server) const {
  MutexLock lock(mutex_);
  return at(server).boot;
}

Acknowledged::Late Acknowledged::late(int server, uint32_t round) const {
  MutexLock lock(mutex_);
  return at(server).late_round == round ? at(server).late : Late{};
}

std::string Acknowledged::describe(const Loss& loss) {
  std::string text = fmt::format("{} that it had acknowledged", counted(loss.batches, "batch", "batches"));
  if (!loss.listed.empty()) text += fmt::format(": {} of pass {}", list_batches(loss.listed, loss.listed.size()), loss.round);
  if (loss.first_round < loss.round)
    text += fmt::format("{} passes from {} on", loss.listed.empty() ? ":" : ", and", loss.first_round);
  return text;
}

std::optional<Acknowledged::Loss> Acknowledged::compare(int server, const Window& acknowledged, const Window& found,
                                                        uint64_t boot, bool again) {
  MutexLock lock(mutex_);
  Server& one = at(server);
  if (boot == one.boot && !again) return std::nullopt;
  one.boot = boot;
  bool whole_rounds = false;
  const auto lacking = found.lacks(acknowledged, whole_rounds);
  if (lacking.empty() && !whole_rounds) return std::nullopt;
  Loss loss{.server = server, .batches = lacking.size(), .listed = {}, .round = acknowledged.round(), .allowed = one.may_lose};
  for (const BatchId batch : lacking) loss.listed.push_back(index_of(batch));
  loss.first_round = whole_rounds ? found.round() : loss.round;
  for (uint32_t round = loss.first_round; round < loss.round; ++round) {
    const auto size = one.sizes.find(round);
    const uint64_t here = round == found.round() ? found.through() + found.above().size() : 0;
    if (size != one.sizes.end() && size->second > here) loss.batches += size->second - here;
  }
  if (loss.allowed) one.window = found;  // the next restart is compared with what is there now
  return loss;
}

}  // namespace argosy::ps
