#include "argosy/launch/meeting.h"

#include <poll.h>

#include "argosy/base/log.h"
#include "argosy/launch/stop_signal.h"

namespace argosy::launch {
namespace {

constexpr int kFirst = 0;               // the number of the first node's member; guests have those after it
constexpr size_t kMostGuests = 1024;
constexpr int kLookMilliseconds = 50;
constexpr int kImpatient = 2;           // stop signals
constexpr double kGoodbyeSeconds =
    30;  // for joining nodes to hear the end of the job; one that is gone for good is not waited for

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

  std::string broken() const override {
    std::scoped_lock lock(meeting_.mutex_);
    return meeting_.lost_.empty() ? "" : fmt::format("the store in which the nodes meet is lost: {}", meeting_.lost_);
  }

 private:
  Meeting& meeting_;
};

Meeting::Meeting(RoundsOptions options, std::optional<MeetingPlace> place)
    : rounds_(std::move(options), SteadyClock::now()), place_(std::move(place)) {
  if (place_) thread_ = Thread("meeting", [this] { serve(); });
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

// Until the owner ends it, and then until the guests have heard of the end or have had time to; or until the store is lost.
void Meeting::serve() {
  std::optional<Deadline> goodbye;
  while (!goodbye || (!guests_.empty() && !goodbye->passed() && stop_signals() < kImpatient)) {
    pollfd waited{.fd = place_->store.fd(), .events = POLLIN};
    ::poll(&waited, 1, kLookMilliseconds);
    for (const PostLine& line : place_->store.receive()) hear(line);
    if (!goodbye) look_after_guests();
    send_to_guests();
    const std::string lost = place_->store.broken();
    std::scoped_lock lock(mutex_);
    if (stop_ && !goodbye) goodbye = Deadline::after_seconds(kGoodbyeSeconds);
    std::erase_if(guests_,
                  [&](const auto& entry) { return !entry.second.gone.empty() || (goodbye && !rounds_.knows(entry.first)); });
    if (lost.empty()) continue;
    lost_ = lost;
    return;
  }
}

void Meeting::hear(const PostLine& line) {
  if (line.kind == PostLine::Kind::letter) return hear_letter(line.guest, line.text);
  const auto guest = guests_.find(line.guest);
  const bool its_own = place_->seal.opened(line.text, place_of_end(line.guest)).ok();
  if (line.kind == PostLine::Kind::gone && its_own && guest != guests_.end())
    guest->second.gone = "is gone: its launcher has ended";
}

// A letter that is not sealed as it should be is nobody's word: one who has not joined is told why, a member hears nothing, since
// it has not written it.
void Meeting::hear_letter(int number, const std::string& text) {
  if (!guests_.contains(number) && guests_.size() >= kMostGuests) return;
  Guest& guest = guests_[number];
  const auto line = place_->seal.opened(text, place_from(number, guest.heard + 1));
  const auto message = line.ok() ? parse_line(*line) : line.status();
  if (!message.ok()) {
    if (guest.heard == 0) send(number, {.kind = "end", .fields = {{"code", "1"}, {"why", message.status().message()}}});
    return;
  }
  ++guest.heard;
  guest.since_heard.restart();
  if (message->kind == "alive") return;
  std::scoped_lock lock(mutex_);
  rounds_.hear(number, *message, false, SteadyClock::now());
}

void Meeting::look_after_guests() {
  for (auto& [number, guest] : guests_) {
    if (guest.since_heard.seconds() > kSilenceSeconds) {
      guest.gone = fmt::format("is silent since {} s", kSilenceSeconds);
      send(number, {.kind = "end", .fields = {{"code", "1"}, {"why", "this node " + guest.gone + " and counts as lost"}}});
    }
    std::scoped_lock lock(mutex_);
    if (!rounds_.knows(number) && guest.since_came.seconds() > kSilenceSeconds) guest.gone = "has not joined";
    if (!guest.gone.empty()) rounds_.lose(number, guest.gone, SteadyClock::now());
  }
}

void Meeting::send(int number, const Message& message) {
  Guest& guest = guests_[number];
  const std::string place = place_to(number, ++guest.sent);
  place_->store.send({PostLine::Kind::letter, number, place_->seal.sealed(to_line(message), place)});
  guest.since_sent.restart();
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
    if (guest.since_sent.seconds() >= kBeatSeconds) send(number, {.kind = "alive"});
    for (const Message& message : messages[number]) send(number, message);
  }
}

}  // namespace argosy::launch
