#include "argosy/launch/meeting.h"

#include <poll.h>

#include "argosy/base/log.h"
#include "argosy/base/socket.h"

namespace argosy::launch {
namespace {

constexpr int kFirst = 0;               // the number of the first node's member; guests have those after it
constexpr size_t kMostGuests = 1024;
constexpr int kLookMilliseconds = 50;
constexpr double kGoodbyeSeconds = 5;   // for guests to hear the end of the job

}  // namespace

// The line inside the process.
class Meeting::FirstLink : public Link {
 public:
  explicit FirstLink(Meeting& meeting) : meeting_(meeting) {}

  void send(const Message& message) override {
    std::scoped_lock lock(meeting_.mutex_);
    meeting_.rounds_.hear(kFirst, message, true, SteadyClock::now());
  }

  std::vector<Message> receive() override {
    std::scoped_lock lock(meeting_.mutex_);
    meeting_.rounds_.tick(SteadyClock::now());
    meeting_.sort_messages();
    return std::exchange(meeting_.to_first_, {});
  }

 private:
  Meeting& meeting_;
};

Meeting::Meeting(RoundsOptions options, Fd listener)
    : rounds_(std::move(options), SteadyClock::now()), listener_(std::move(listener)) {
  if (listener_.open()) thread_ = Thread("meeting", [this] { serve(); });
}

Meeting::~Meeting() {
  {
    std::scoped_lock lock(mutex_);
    rounds_.lose(kFirst, "has ended", SteadyClock::now());
    stop_ = true;
  }
  thread_.join();
}

std::unique_ptr<Link> Meeting::first_link() { return std::make_unique<FirstLink>(*this); }

void Meeting::sort_messages() {
  for (auto& [member, message] : rounds_.take()) {
    if (member == kFirst) {
      to_first_.push_back(std::move(message));
    } else {
      to_guests_[member].push_back(std::move(message));
    }
  }
}

// Until the owner ends it, and then until the guests have heard of the end or have had time to.
void Meeting::serve() {
  std::optional<Deadline> goodbye;
  while (!goodbye || (!guests_.empty() && !goodbye->passed())) {
    wait_for_guests();
    if (!goodbye) take_guests();
    for (auto& [number, guest] : guests_) hear_guest(number, guest);
    send_to_guests();
    std::scoped_lock lock(mutex_);
    if (stop_ && !goodbye) goodbye = Deadline::after_seconds(kGoodbyeSeconds);
    std::erase_if(guests_,
                  [&](const auto& entry) { return !entry.second.socket.open() || (goodbye && !rounds_.knows(entry.first)); });
  }
}

void Meeting::wait_for_guests() {
  std::vector<pollfd> waited = {{.fd = listener_.get(), .events = POLLIN}};
  for (const auto& [number, guest] : guests_) {
    const short events = static_cast<short>(POLLIN | (guest.socket.has_more_to_write() ? POLLOUT : 0));
    waited.push_back({.fd = guest.socket.fd(), .events = events});
  }
  ::poll(waited.data(), waited.size(), kLookMilliseconds);
}

void Meeting::take_guests() {
  for (;;) {
    auto socket = accept_from(listener_);
    if (!socket.ok()) log_warning("meeting place: {}", socket.status().message());
    if (!socket.ok() || !socket->open()) return;
    if (guests_.size() < kMostGuests) guests_.emplace(++last_guest_, Guest{.socket = LineSocket(std::move(*socket))});
  }
}

void Meeting::hear_guest(int number, Guest& guest) {
  const std::vector<Message> messages = guest.socket.receive();
  if (!messages.empty()) guest.since_heard.restart();
  if (guest.since_heard.seconds() > kSilenceSeconds) guest.socket.close(fmt::format("is silent since {} s", kSilenceSeconds));
  std::scoped_lock lock(mutex_);
  if (!rounds_.knows(number) && guest.since_came.seconds() > kSilenceSeconds) guest.socket.close("has not joined");
  for (const Message& message : messages) {
    if (message.kind != "alive") rounds_.hear(number, message, false, SteadyClock::now());
  }
  if (!guest.socket.open()) rounds_.lose(number, guest.socket.why_closed(), SteadyClock::now());
}

void Meeting::send_to_guests() {
  std::map<int, std::vector<Message>> messages;
  {
    std::scoped_lock lock(mutex_);
    rounds_.tick(SteadyClock::now());
    sort_messages();
    messages.swap(to_guests_);
  }
  for (auto& [number, guest] : guests_) {
    if (guest.since_sent.seconds() >= kBeatSeconds) {
      guest.socket.send({.kind = "alive"});
      guest.since_sent.restart();
    }
    for (const Message& message : messages[number]) guest.socket.send(message);
    guest.socket.flush();
  }
}

}  // namespace argosy::launch
