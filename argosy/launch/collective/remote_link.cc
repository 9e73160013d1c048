#include "argosy/launch/collective/remote_link.h"

#include <algorithm>

#include "argosy/base/identity.h"
#include "argosy/base/mutex.h"
#include "argosy/base/poll.h"
#include "argosy/launch/collective/meeting_wire.h"

namespace argosy::launch {
namespace {

constexpr double kCallSeconds = 10;    // longer than the meeting place takes for any answer
constexpr double kAgainSeconds = 0.2;  // between two tries
constexpr double kLeaveSeconds = 2;
constexpr double kUnreachableSeconds = 5;
constexpr double kStallSeconds = 3;  // a side that did not run for so long did not hear anybody either

bool is_passing(Code code) { return code == Code::unavailable || code == Code::deadline_exceeded || code == Code::cancelled; }

rpc::Message wire(const MeetingCall& call) { return {.method = kMeetingMethod, .header = to_lines(call), .payload = {}}; }

}  // namespace

RemoteLink::RemoteLink(std::unique_ptr<rpc::Channel> channel)
    : node_(fmt::format("{:016x}", draw_identity())), channel_(std::move(channel)) {}

RemoteLink::~RemoteLink() {
  const Deadline deadline = Deadline::after_seconds(kLeaveSeconds);
  for (; has_more_to_say() && !deadline.passed(); came_.clear()) {
    begin_calls();
    wait_readable(came_.fd(), Deadline::after_seconds(std::min(kAgainSeconds, deadline.seconds_left())));
  }
  if (broken().empty()) {
    MeetingCall call{.kind = "leave", .node = node_};
    {
      MutexLock lock(mutex_);
      call.number = heard_;
    }
    (void)channel_->call_and_wait(wire(call), Deadline::after_seconds(kLeaveSeconds));
  }
  channel_.reset();
}

bool RemoteLink::has_more_to_say() const {
  MutexLock lock(mutex_);
  return refused_.empty() && !to_say_.empty();
}

bool RemoteLink::Repeated::begin() {
  if (under_way || (failed && since_failed.seconds() < kAgainSeconds)) return false;
  under_way = true;
  return true;
}

void RemoteLink::send(const LauncherMessage& message) {
  {
    MutexLock lock(mutex_);
    to_say_.push_back(message);
  }
  begin_calls();
}

std::vector<LauncherMessage> RemoteLink::receive() {
  came_.clear();
  begin_calls();
  MutexLock lock(mutex_);
  if (since_looked_.seconds() > kStallSeconds) {
    since_heard_.restart();
    since_unreachable_.reset();
  }
  since_looked_.restart();
  return std::exchange(inbox_, {});
}

void RemoteLink::begin_calls() {
  bool say_now = false, listen_now = false;
  {
    MutexLock lock(mutex_);
    if (!refused_.empty()) return;
    say_now = !to_say_.empty() && saying_.begin();
    listen_now = listening_.begin();
  }
  if (say_now) say();
  if (listen_now) listen();
}

void RemoteLink::say() {
  MeetingCall call{.kind = "say", .node = node_};
  {
    MutexLock lock(mutex_);
    call.number = said_ + 1;
    call.messages.assign(to_say_.begin(), to_say_.end());
  }
  const size_t count = call.messages.size();
  channel_->call(wire(call), Deadline::after_seconds(kCallSeconds),
                 [this, count](Result<rpc::Received> answer) { said(count, answer.status()); });
}

void RemoteLink::listen() {
  MeetingCall call{.kind = "listen", .node = node_};
  {
    MutexLock lock(mutex_);
    call.number = heard_;
  }
  channel_->call(wire(call), Deadline::after_seconds(kCallSeconds), [this](Result<rpc::Received> answer) { heard(answer); });
}

bool RemoteLink::accepted(Repeated& call, const Status& status) {
  call.under_way = false;
  call.failed = !status.ok();
  call.since_failed.restart();
  if (status.ok()) {
    met_ = true;
    since_unreachable_.reset();
    since_heard_.restart();
    return true;
  }
  if (status.code() == Code::unavailable && !since_unreachable_) since_unreachable_.emplace();
  last_failure_ = status.message();
  if (!is_passing(status.code())) refused_ = status.message();
  return false;
}

void RemoteLink::said(size_t count, const Status& status) {
  {
    MutexLock lock(mutex_);
    if (accepted(saying_, status)) {
      to_say_.erase(to_say_.begin(), to_say_.begin() + static_cast<std::ptrdiff_t>(count));
      said_ += static_cast<int64_t>(count);
    }
  }
  came_.wake();
}

void RemoteLink::heard(const Result<rpc::Received>& answer) {
  {
    MutexLock lock(mutex_);
    if (accepted(listening_, answer.status())) {
      auto messages = parse_messages(answer->header);
      if (!messages.ok()) refused_ = messages.status().message();
      if (messages.ok()) {
        heard_ += static_cast<int64_t>(messages->size());
        for (LauncherMessage& message : *messages) inbox_.push_back(std::move(message));
      }
    }
  }
  came_.wake();
}

std::string RemoteLink::broken() const {
  MutexLock lock(mutex_);
  if (!inbox_.empty()) return "";  // what has come is heard first
  if (!refused_.empty()) return fmt::format("{}: {}", place(), refused_);
  const bool unreachable = met_ && since_unreachable_ && since_unreachable_->seconds() > kUnreachableSeconds;
  const bool silent = since_heard_.seconds() > kSilenceSeconds;
  if (!unreachable && !silent) return "";
  return fmt::format("{} is lost ({}): the launcher of the first node has ended or cannot be reached", place(),
                     unreachable ? last_failure_ : fmt::format("is silent since {} s", kSilenceSeconds));
}

}  // namespace argosy::launch
