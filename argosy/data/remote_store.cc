#include "argosy/data/remote_store.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "argosy/base/clock.h"
#include "argosy/base/env.h"
#include "argosy/base/mutex.h"
#include "argosy/base/text.h"
#include "argosy/base/thread.h"
#include "argosy/base/wait_check.h"
#include "argosy/data/pipe_command.h"

namespace argosy::data {
namespace {

constexpr std::chrono::milliseconds kCheckEvery{200};  // whether a user wants the wait to end

std::vector<std::string> program() {
  std::vector<std::string> words;
  for (const std::string& word : split(env_text("ARGOSY_FS_COMMAND").value_or("hadoop fs"), ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

// Runs the command to its end, or to that of `stop`.
Status run_to_end(const RemoteStore& store, const std::vector<std::string>& order, const std::shared_ptr<StderrTail>& errors,
                  const StopSignal& stop) {
  RETURN_IF_ERROR(stop.status());
  ASSIGN_OR_RETURN(auto process, PipeCommand::start(store_command(store, order), store_title(order), {}, errors, stop));
  std::array<char, 4096> output;
  for (;;) {
    ASSIGN_OR_RETURN(const size_t got, process->read(output));
    if (got == 0) return {};
  }
}

// A command under way in a thread of its own, and the wait for it. Owns the thread "data-store".
class CommandRun {
 public:
  CommandRun(const RemoteStore& store, const std::vector<std::string>& order)
      : thread_("data-store", [this, &store, &order] { finish(run_to_end(store, order, errors_, stop_)); }) {}
  ~CommandRun() { stop_.stop(); }

  // Nothing: it is not over by the deadline, or the user wants no more.
  std::optional<Status> wait(Deadline deadline) {
    for (;;) {
      {
        MutexLock lock(mutex_);
        const auto next = std::min(deadline.when(), SteadyClock::now() + kCheckEvery);
        if (over_.wait_until(lock, next, [this]() ARGOSY_REQUIRES(mutex_) { return outcome_.has_value(); })) return outcome_;
      }
      if (deadline.passed() || wait_cancelled()) return std::nullopt;
    }
  }
  std::string errors() const { return errors_->text(); }

 private:
  void finish(Status outcome) {
    MutexLock lock(mutex_);
    outcome_ = std::move(outcome);
    over_.notify_all();
  }

  const std::shared_ptr<StderrTail> errors_ = std::make_shared<StderrTail>();
  StopSignal stop_;
  Mutex mutex_;
  ConditionVariable over_;
  std::optional<Status> outcome_ ARGOSY_GUARDED_BY(mutex_);
  Thread thread_;                  // last: joined while all above is alive
};

}  // namespace

bool is_remote_path(const std::string& path) {
  return (path.starts_with("hdfs:") || path.starts_with("afs:")) && !is_store_uri(path);
}

Status FolderPlace::check() const {
  if (is_remote_path(path) || !is_uri(path)) return {};
  return check_store_uri(path);
}

std::vector<std::string> store_command(const RemoteStore& store, const std::vector<std::string>& order) {
  std::vector<std::string> words = program();
  if (!store.fs_name.empty()) words.insert(words.end(), {"-D", "fs.default.name=" + store.fs_name});
  if (!store.fs_ugi.empty()) words.insert(words.end(), {"-D", "hadoop.job.ugi=" + store.fs_ugi});
  words.insert(words.end(), order.begin(), order.end());
  return words;
}

std::string store_title(const std::vector<std::string>& order) { return join(program(), " ") + " " + join(order, " "); }

Status run_store_command(const RemoteStore& store, const std::vector<std::string>& order) {
  CommandRun run(store, order);
  const Deadline deadline = Deadline::after_seconds(store.seconds);
  if (const auto outcome = run.wait(deadline)) return *outcome;
  if (!deadline.passed()) return Status::cancelled("the wait for '{}' was interrupted", store_title(order));
  const std::string errors = run.errors();
  return Status::deadline_exceeded("the command '{}' did not end in {} s and was killed; its stderr {}", store_title(order),
                                   store.seconds, errors.empty() ? "is empty" : "ends with:\n" + errors);
}

}  // namespace argosy::data
