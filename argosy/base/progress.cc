#include "argosy/base/progress.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "argosy/base/log.h"
#include "argosy/base/terminal_line.h"

namespace argosy {
namespace {

constexpr double kFirstSeconds = 0.5, kTerminalSeconds = 0.2;  // on a terminal: the first time, and between two
constexpr double kFileSeconds = 30;
constexpr int kBar = 20;  // characters

struct AllWork {
  Mutex mutex;
  std::vector<const Progress*> running ARGOSY_GUARDED_BY(mutex);
};

// Leaked on purpose: a thread may end its work while static objects are destroyed.
AllWork& all_work() {
  static AllWork& instance = *new AllWork;
  return instance;
}

std::string bar(double ratio) {
  const int full = static_cast<int>(ratio * kBar);
  std::string text;
  for (int i = 0; i < kBar; ++i) text += i < full ? "█" : "·";
  return text;
}

bool is_behind(const RunningWork& one, const RunningWork& other) { return one.ratio.value_or(0) < other.ratio.value_or(0); }

}  // namespace

Progress::Progress(std::string what)
    : what_(std::move(what)),
      ratio_(std::numeric_limits<double>::quiet_NaN()),
      next_show_(has_terminal() ? kFirstSeconds : kFileSeconds) {
  AllWork& all = all_work();
  const MutexLock lock(all.mutex);
  all.running.push_back(this);
}

Progress::~Progress() {
  {
    AllWork& all = all_work();
    const MutexLock lock(all.mutex);
    std::erase(all.running, this);
  }
  if (!shown_) return;
  clear_terminal_line();
  log_info("{}: ended after {:.1f} s", what_, since_.seconds());
}

void Progress::set(std::optional<double> ratio) {
  ratio_ = ratio ? std::clamp(*ratio, 0.0, 1.0) : std::numeric_limits<double>::quiet_NaN();
  if (is_due()) show();
}

// To one of the threads that ask at the same time.
bool Progress::is_due() {
  double next = next_show_;
  const double now = since_.seconds();
  return now >= next && next_show_.compare_exchange_strong(next, now + (has_terminal() ? kTerminalSeconds : kFileSeconds));
}

void Progress::show() {
  shown_ = true;
  const std::string text = RunningWork::of(*this).text();
  if (has_terminal())
    show_terminal_line(text);
  else
    log_info("{}", text);
}

RunningWork RunningWork::of(const Progress& progress) {
  const double ratio = progress.ratio_;
  return {.what = progress.what_,
          .ratio = std::isnan(ratio) ? std::nullopt : std::optional(ratio),
          .seconds = progress.since_.seconds()};
}

std::string RunningWork::text() const {
  if (!ratio) return fmt::format("{}, {:.0f} s", what, seconds);
  const std::string left = *ratio > 0 ? fmt::format(", {:.0f} s left", seconds * (1 - *ratio) / *ratio) : "";
  return fmt::format("{} {:.0f} % [{}] {:.0f} s{}", what, 100 * *ratio, bar(*ratio), seconds, left);
}

std::vector<RunningWork> running_work() {
  AllWork& all = all_work();
  std::vector<RunningWork> found;
  const MutexLock lock(all.mutex);
  for (const Progress* progress : all.running) {
    RunningWork work = RunningWork::of(*progress);
    const auto same = std::ranges::find(found, work.what, &RunningWork::what);
    if (same == found.end())
      found.push_back(std::move(work));
    else if (is_behind(work, *same))
      *same = std::move(work);
  }
  return found;
}

}  // namespace argosy
