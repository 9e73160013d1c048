#include "argosy/collective/generations.h"

#include "argosy/base/log.h"
#include "argosy/base/notice.h"
#include "argosy/base/poll.h"
#include "argosy/base/text.h"

namespace argosy::collective {
namespace {

constexpr double kBeatSeconds = 1;
constexpr double kSaySeconds = 10;       // for a launcher that is slow to read
constexpr double kSayAgainSeconds = 0.02;

}  // namespace

Generations::Generations(std::function<void()> on_loss) : on_loss_(std::move(on_loss)) {
  thread_ = Thread("generations", [this] { run(); });
}

Generations::~Generations() {
  stop_.wake();
  thread_.join();
}

int Generations::wanted() const {
  const MutexLock lock(mutex_);
  return newest_.number;
}

bool Generations::over() const {
  const MutexLock lock(mutex_);
  return over_;
}

void Generations::run() {
  Deadline beat = Deadline::after_seconds(0);
  while (!wait_readable(stop_.fd(), Deadline::after_seconds(0))) {
    if (beat.passed()) {
      notice_rank("beat");  // a lost one is made up for by the next
      beat = Deadline::after_seconds(kBeatSeconds);
    }
    if (const auto word = hear_launcher(beat, stop_.fd())) obey(*word);
  }
}

void Generations::obey(const std::string& word) {
  const auto parts = split(word, ' ');
  if (parts.empty()) return;
  const int64_t number = parts.size() > 1 ? parse_integer(parts[1]).value_or(0) : 0;
  bool lost = false;
  {
    const MutexLock lock(mutex_);
    if (parts[0] == "over") over_ = true;
    if (parts[0] == "regroup" && parts.size() == 3 && number > newest_.number) {
      newest_ = {.number = static_cast<int>(number), .host = static_cast<int>(parse_integer(parts[2]).value_or(0))};
      lost = true;
    }
    if (parts[0] == "meet" && parts.size() == 3 && number == newest_.number) newest_.address = parts[2];
  }
  if (lost) on_loss_();
  changed_.notify_all();
}

Result<Generation> Generations::await(int after, Deadline deadline) const {
  MutexLock lock(mutex_);
  const auto told = [&]() ARGOSY_REQUIRES(mutex_) { return newest_.number > after; };
  if (changed_.wait_until(lock, deadline.when(), told)) return newest_;
  return Status::deadline_exceeded("the launcher has not said that the group meets again");
}

Result<std::string> Generations::await_address(int generation, Deadline deadline) const {
  MutexLock lock(mutex_);
  const auto told = [&]() ARGOSY_REQUIRES(mutex_) { return newest_.number != generation || !newest_.address.empty(); };
  if (!changed_.wait_until(lock, deadline.when(), told))
    return Status::deadline_exceeded("rank {}, where generation {} meets, has not said its address", newest_.host, generation);
  if (newest_.number != generation) return Status::aborted("another rank was lost meanwhile");
  return newest_.address;
}

Result<bool> Generations::await_over(int after, Deadline deadline) const {
  MutexLock lock(mutex_);
  const auto told = [&]() ARGOSY_REQUIRES(mutex_) { return over_ || newest_.number > after; };
  if (!changed_.wait_until(lock, deadline.when(), told))
    return Status::deadline_exceeded("not all ranks have finished their last step in time");
  return over_;
}

Status Generations::say(const std::string& word) {
  const Deadline deadline = Deadline::after_seconds(kSaySeconds);
  const Wake never;
  while (!notice_rank(word)) {
    if (deadline.passed()) return Status::deadline_exceeded("the launcher does not hear '{}'", word);
    wait_readable(never.fd(), Deadline::after_seconds(kSayAgainSeconds));
  }
  return {};
}

}  // namespace argosy::collective
