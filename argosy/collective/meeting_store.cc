#include "argosy/collective/meeting_store.h"

#include <algorithm>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "argosy/base/line_socket.h"
#include "argosy/collective/guard.h"

namespace argosy::collective {
namespace {

constexpr int64_t kMostAtOnce = 256;
constexpr const char* kGreeting = "greeting";
constexpr const char* kGuests = "guests";

std::string queue_of(int guest) { return guest == 0 ? "first" : "guest/" + std::to_string(guest); }

std::vector<uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

}  // namespace

MeetingStore::MeetingStore(const StorePtr& store) : store_(c10::make_intrusive<c10d::PrefixStore>("argosy/meeting", store)) {}

Result<MeetingStore> MeetingStore::host(const StorePtr& store, const std::string& greeting) {
  MeetingStore made(store);
  made.greeting_ = greeting;
  RETURN_IF_ERROR(guarded([&] { made.store_->set(kGreeting, bytes_of(greeting)); }));
  return made;
}

Result<MeetingStore> MeetingStore::join(const StorePtr& store, std::chrono::milliseconds timeout) {
  MeetingStore made(store);
  RETURN_IF_ERROR(guarded([&] {
                    made.store_->wait({kGreeting}, timeout);
                    const auto greeting = made.store_->get(kGreeting);
                    made.greeting_.assign(greeting.begin(), greeting.end());
                  }).with_context("nobody greets in the store: it is not that of a launcher"));
  RETURN_IF_ERROR(guarded([&] { made.guest_ = static_cast<int>(made.store_->add(kGuests, 1)); }));
  if (made.greeting_.size() > kLongestLine / 2 || made.greeting_.find('\n') != std::string::npos || made.guest_ < 1)
    return Status::invalid_argument("the store has a greeting or a count of guests that no launcher writes");
  return made;
}

Status MeetingStore::send(const PostLine& line) {
  const std::string queue = queue_of(guest_ == 0 ? line.guest : 0);
  return guarded([&] { store_->queuePush(queue, bytes_of(to_line(line))); });
}

Result<std::vector<PostLine>> MeetingStore::receive() {
  std::vector<PostLine> lines;
  const std::string queue = queue_of(guest_);
  RETURN_IF_ERROR(guarded([&] {
    for (int64_t left = std::min(store_->queueLen(queue), kMostAtOnce); left > 0; --left) {
      const auto bytes = store_->queuePop(queue, /*block=*/false);
      auto line = parse_post_line(std::string(bytes.begin(), bytes.end()));
      if (!line.ok()) continue;
      const bool for_guest = line->kind == PostLine::Kind::letter && line->guest == guest_;
      const bool for_first = line->kind == PostLine::Kind::letter || line->kind == PostLine::Kind::gone;
      if (guest_ == 0 ? for_first : for_guest) lines.push_back(std::move(*line));
    }
  }));
  return lines;
}

}  // namespace argosy::collective
