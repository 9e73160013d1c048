#include "argosy/launch/collective/meeting.h"

#include <algorithm>

#include "argosy/base/mutex.h"
#include "argosy/launch/process/stop_signal.h"

namespace argosy::launch {
namespace {

constexpr int kFirst = 0;  // the number of the first node's member; others have those after it
constexpr size_t kMostRemoteNodes = 1024;
constexpr size_t kMostMail = 1024;  // messages that one remote node has not fetched
constexpr auto kLookEvery = std::chrono::milliseconds(50);
constexpr double kLookSeconds = 0.05;
constexpr double kReturnSeconds = 5;   // for one whose wait was cut off to listen again
constexpr double kStallSeconds = 3;    // a side that did not run for so long did not hear anybody either
constexpr double kForgetSeconds = 60;  // after which a lost node that does not fetch its mail is forgotten
constexpr double kGoodbyeSeconds = 30;
constexpr int kImpatient = 2;  // stop signals

LauncherMessage end_message(const std::string& why) { return {.kind = "end", .fields = {{"code", "1"}, {"why", why}}}; }

}  // namespace

// The line inside the process.
class Meeting::FirstLink : public NodeLink {
 public:
  explicit FirstLink(Meeting& meeting) : meeting_(meeting) {}

  void send(const LauncherMessage& message) override {
    Answers answers;
    {
      MutexLock lock(meeting_.mutex_);
      meeting_.rounds_.hear(kFirst, message, true, SteadyClock::now());
      answers = meeting_.due();
    }
    Meeting::send(std::move(answers));
  }

  std::vector<LauncherMessage> receive() override {
    meeting_.first_wake_.clear();
    MutexLock lock(meeting_.mutex_);
    meeting_.rounds_.tick(SteadyClock::now());
    meeting_.sort_messages();
    return std::exchange(meeting_.to_first_, {});
  }

  int fd() const override { return meeting_.first_wake_.fd(); }

 private:
  Meeting& meeting_;
};

Meeting::Meeting(RoundsOptions options, Nodes nodes) : rounds_(std::move(options), SteadyClock::now()) {
  if (nodes == Nodes::several) thread_ = Thread("meeting", [this] { serve(); });
}

Meeting::~Meeting() { close(); }

std::unique_ptr<NodeLink> Meeting::first_link() { return std::make_unique<FirstLink>(*this); }

Status Meeting::hear(const std::string& node, int64_t first, const std::vector<LauncherMessage>& messages) {
  Answers answers;
  {
    MutexLock lock(mutex_);
    RemoteNode* from = remote_node(node);
    if (from == nullptr)
      return Status::resource_exhausted("{} nodes have called at this meeting place already", kMostRemoteNodes);
    from->since_heard.restart();
    if (first > from->heard + 1 || first < 1)
      return Status::failed_precondition("this launcher's messages from {} on came, expected number {}", first, from->heard + 1);
    for (size_t i = 0; i < messages.size(); ++i) {
      if (first + static_cast<int64_t>(i) <= from->heard) continue;
      ++from->heard;
      if (!from->lost) rounds_.hear(from->member, messages[i], false, SteadyClock::now());
    }
    answers = due();
  }
  send(std::move(answers));
  return {};
}

void Meeting::listen(const std::string& node, int64_t heard, std::unique_ptr<NodeListener> listener) {
  Answers answers;
  {
    MutexLock lock(mutex_);
    const bool forgotten = heard > 0 && !remote_nodes_.contains(node);
    RemoteNode* to = forgotten ? nullptr : remote_node(node);
    if (to == nullptr) {
      answers.push_back({std::move(listener), {end_message("the meeting place does not know this node, or knows it no more")}});
    } else {
      acknowledge(*to, heard);
      to->since_heard.restart();
      to->since_listened.restart();
      to->since_cut_off.reset();
      if (to->waits) answers.push_back({std::move(to->waits), {}});
      to->waits = std::move(listener);
    }
    for (Answer& answer : due()) answers.push_back(std::move(answer));
  }
  send(std::move(answers));
}

void Meeting::leave(const std::string& node, int64_t heard) {
  Answers answers;
  {
    MutexLock lock(mutex_);
    const auto found = remote_nodes_.find(node);
    if (found == remote_nodes_.end()) return;
    acknowledge(found->second, heard);
    lose(found->second, "is gone: its launcher has ended");
    if (found->second.waits) answers.push_back({std::move(found->second.waits), {}});
    names_.erase(found->second.member);
    remote_nodes_.erase(found);
    for (Answer& answer : due()) answers.push_back(std::move(answer));
  }
  told_.wake();
  send(std::move(answers));
}

Meeting::RemoteNode* Meeting::remote_node(const std::string& node) {
  if (const auto found = remote_nodes_.find(node); found != remote_nodes_.end()) return &found->second;
  if (remote_nodes_.size() >= kMostRemoteNodes || closed_) return nullptr;
  RemoteNode& made = remote_nodes_[node];
  made.member = ++members_;
  names_[made.member] = node;
  return &made;
}

void Meeting::acknowledge(RemoteNode& remote, int64_t heard) {
  for (; remote.acknowledged < heard && !remote.mail.empty(); ++remote.acknowledged) remote.mail.pop_front();
  if (closing_) told_.wake();
}

// A node that is lost has no part in the job any more. What was said to it before, and why it is lost, it may still fetch.
void Meeting::lose(RemoteNode& remote, const std::string& why) {
  if (!remote.lost) rounds_.lose(remote.member, why, SteadyClock::now());
  remote.lost = true;
}

void Meeting::sort_messages() {
  for (auto& [member, message] : rounds_.take()) {
    if (member == kFirst) {
      to_first_.push_back(std::move(message));
      first_wake_.wake();
    } else if (const auto name = names_.find(member); name != names_.end()) {
      RemoteNode& to = remote_nodes_.at(name->second);
      if (to.mail.size() < kMostMail) to.mail.push_back(std::move(message));
    }
  }
}

Meeting::Answers Meeting::due() {
  sort_messages();
  Answers answers;
  for (auto& [name, remote] : remote_nodes_) {
    if (!remote.waits || (remote.mail.empty() && remote.since_listened.seconds() < kListenSeconds)) continue;
    answers.push_back({std::move(remote.waits), {remote.mail.begin(), remote.mail.end()}});
    remote.waits = nullptr;
  }
  return answers;
}

void Meeting::send(Answers answers) {
  for (Answer& answer : answers) answer.to->answer(answer.messages);
}

// Where this process itself did not run for a while, nobody has been heard, and nobody is to blame.
void Meeting::notice_losses() {
  const auto now = SteadyClock::now();
  const bool stalled = std::chrono::duration<double>(now - last_look_).count() > kStallSeconds;
  last_look_ = now;
  for (auto& [name, remote] : remote_nodes_) {
    if (stalled) remote.since_heard.restart();
    if (const std::string why = loss_of(remote); !remote.lost && !why.empty()) {
      remote.mail.push_back(end_message(fmt::format("this node {} and counts as lost", why)));
      lose(remote, why);
    }
  }
  forget_strangers();
}

std::string Meeting::loss_of(RemoteNode& remote) {
  if (remote.waits && remote.waits->gone()) {
    remote.waits = nullptr;
    remote.since_cut_off.emplace();
  }
  // At the end one that stands still is given the time of close().
  if (!closing_ && remote.since_heard.seconds() > kSilenceSeconds) return fmt::format("is silent since {} s", kSilenceSeconds);
  if (remote.since_cut_off && remote.since_cut_off->seconds() > kReturnSeconds) return "is gone: its launcher has ended";
  return "";
}

// One who has not joined in time, and one who was lost and does not come back.
void Meeting::forget_strangers() {
  std::erase_if(remote_nodes_, [this](const auto& entry) ARGOSY_REQUIRES(mutex_) {
    const RemoteNode& remote = entry.second;
    const bool stranger = !remote.lost && !rounds_.knows(remote.member) && remote.since_came.seconds() > kSilenceSeconds;
    const bool forgotten = stranger || (remote.lost && remote.since_heard.seconds() > kForgetSeconds);
    if (forgotten) names_.erase(remote.member);
    return forgotten;
  });
}

void Meeting::serve() {
  MutexLock lock(mutex_);
  while (!closed_) {
    changed_.wait_for(lock, kLookEvery);
    rounds_.tick(SteadyClock::now());
    notice_losses();
    Answers answers = due();
    lock.unlock();
    send(std::move(answers));
    lock.lock();
  }
}

bool Meeting::all_told() const {
  return std::all_of(remote_nodes_.begin(), remote_nodes_.end(),
                     [](const auto& entry) { return entry.second.lost || entry.second.mail.empty(); });
}

void Meeting::close() {
  {
    MutexLock lock(mutex_);
    if (closing_) return;
    closing_ = true;
    rounds_.lose(kFirst, "has ended", SteadyClock::now());
    sort_messages();
  }
  const Deadline goodbye = Deadline::after_seconds(kGoodbyeSeconds);
  const int told = told_.fd();
  for (;;) {
    {
      MutexLock lock(mutex_);
      closed_ = all_told() || goodbye.passed() || stop_signals() >= kImpatient;
      if (closed_) break;
    }
    wait_for_event({&told, 1}, Deadline::after_seconds(kLookSeconds));
    told_.clear();
  }
  changed_.notify_all();
  thread_.join();
}

}  // namespace argosy::launch
