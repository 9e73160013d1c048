#pragma once

#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/fd.h"
#include "argosy/base/log.h"
#include "argosy/base/status.h"

namespace argosy {

// Lines that the user who started the job must see: a notice goes to this process's log and, where a launcher started the
// process, to the launcher's terminal, with date, time and the process's name. For events of the job (a lost worker, a full disk,
// a resumed state), not for what happens per batch.
//
// Never blocks and never fails: what the launcher has not taken in time is in the log only. Thread-safe.
void notice_line(LogLevel level, std::string_view text);

template <typename... Args>
void notice(fmt::format_string<Args...> format, Args&&... args) {
  notice_line(LogLevel::info, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void notice(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  notice_line(level, fmt::format(format, std::forward<Args>(args)...));
}

// Tells the launcher alone that this process meets an error only because another one ("worker 0") has failed, so that the
// launcher shows that one's error as the cause. To be called where such an error arrives, before it is returned. Thread-safe.
void notice_consequence(std::string_view of);

// Tell the launcher alone that this process has become a worker of `job`, and that it has left the job as it should: one that
// ends in between, whatever its exit status says, has not done its part. notice_left() waits a few seconds for a launcher that is
// slow to read. Thread-safe.
void notice_joined(std::string_view job);
void notice_left(std::string_view job);

// Tells the launcher alone that this process writes something in `folder` under a name of temporary.h, which the launcher removes
// where the process leaves it behind. Thread-safe.
void notice_writing(std::string_view folder);

// Tells the launcher alone the numbers of this process, one per line as in Prometheus' text format: the last report counts.
// Thread-safe.
void notice_report(std::string_view numbers);

// Tells the launcher alone something of this process as a rank of a group that survives (collective/generations.h). False where
// the launcher is slow to read: the word is lost. Thread-safe.
bool notice_rank(std::string_view word);

// Whether a launcher hears this process's notices.
bool has_launcher();

// What the launcher has told this process (NoticeReceiver::tell), in order. Waits for the next word: nothing where the deadline
// passes first, `wake` becomes readable, or there is no launcher. Confined to one thread.
std::optional<std::string> hear_launcher(Deadline deadline, int wake);

// What one message of a process says. A plain value.
struct Notice {
  enum class Kind { line, consequence, joined, left, writing, report, rank } kind = Kind::line;
  LogLevel level = LogLevel::info;  // of a line
  std::string text;                 // the line, the process that failed first, the job, the folder, the numbers, or the word
};

// The launcher's end for one process: the socket on which its notices come. The process finds the other end by the variable
// ARGOSY_NOTICE_FD, "7:4711": descriptor and inode, so that a descriptor that is something else by then is left alone. The
// descriptor is closed in what the process itself starts. Movable; thread-compatible.
class NoticeReceiver {
 public:
  static constexpr const char* kVariable = "ARGOSY_NOTICE_FD";

  static Result<NoticeReceiver> open();

  // The process's end, to be inherited by it alone and closed here once it runs; above 2, and close-on-exec until then.
  int process_end() const { return process_end_.get(); }
  void close_process_end() { process_end_.close(); }
  const std::string& variable_value() const { return variable_value_; }

  int fd() const { return own_.get(); }  // readable where a notice has come; -1 once no more can

  // What has come since the last call, some of it where it is much. Bytes that are no notice are left out.
  std::vector<Notice> receive();

  // Says something to the process, which it hears by hear_launcher(). Never blocks; false where the process does not hear it:
  // more words wait than the socket holds, it has ended, or the word has more than 4,000 bytes.
  bool tell(std::string_view word) const;

 private:
  NoticeReceiver(Fd own, Fd process_end, std::string value)
      : own_(std::move(own)), process_end_(std::move(process_end)), variable_value_(std::move(value)) {}

  Fd own_, process_end_;
  std::string variable_value_;
};

}  // namespace argosy
