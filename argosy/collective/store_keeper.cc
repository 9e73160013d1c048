#include "argosy/collective/store_keeper.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "argosy/collective/meeting_store.h"
#include "argosy/collective/store.h"

namespace argosy::collective {
namespace {

constexpr int kLookMilliseconds = 50;

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

Result<MeetingStore> open(StoreKeeperOptions options) {
  const auto timeout = std::chrono::milliseconds(static_cast<int64_t>(options.seconds * 1000));
  const bool here = options.listener.open();
  ASSIGN_OR_RETURN(const auto store, open_tcp_store(options.address, std::move(options.listener), timeout));
  return here ? MeetingStore::host(store, options.greeting) : MeetingStore::join(store, timeout);
}

// What goes from the launcher to the store; the line that is to be posted last is kept in `last`.
Status post(const std::vector<std::string>& from_launcher, MeetingStore& store, std::optional<PostLine>& last) {
  for (const std::string& text : from_launcher) {
    ASSIGN_OR_RETURN(PostLine line, parse_post_line(text));
    if (line.kind == PostLine::Kind::gone) {
      last = std::move(line);
    } else {
      RETURN_IF_ERROR(store.send(line));
    }
  }
  return {};
}

Status carry(LineSocket& launcher, MeetingStore& store, const std::function<void()>& each_round) {
  if (store.guest() != 0) launcher.send(to_line({PostLine::Kind::welcome, store.guest(), store.greeting()}));
  std::optional<PostLine> last;
  while (launcher.open()) {
    each_round();
    pollfd waited{.fd = launcher.fd(), .events = static_cast<short>(POLLIN | (launcher.has_more_to_write() ? POLLOUT : 0))};
    ::poll(&waited, 1, kLookMilliseconds);
    RETURN_IF_ERROR(post(launcher.receive(), store, last));
    ASSIGN_OR_RETURN(const auto lines, store.receive());
    for (const PostLine& line : lines) launcher.send(to_line(line));
    launcher.flush();
  }
  return last ? store.send(*last) : Status();
}

}  // namespace

Status keep_store(LineSocket& launcher, StoreKeeperOptions options, const std::function<void()>& each_round) {
  auto store = open(std::move(options));
  const Status status = store.ok() ? carry(launcher, *store, each_round) : store.status();
  if (!status.ok()) launcher.send(to_line({PostLine::Kind::lost, 0, one_line(status.message())}));
  return status;
}

}  // namespace argosy::collective
