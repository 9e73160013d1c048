#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/child_process.h"
#include "argosy/base/mutex.h"
#include "argosy/data/byte_stream.h"

namespace argosy::data {

// The last few thousand bytes that a command wrote to its stderr. Thread-safe: a thread that reports a bad line may ask while the
// command still runs.
class StderrTail {
 public:
  void add(std::string_view text);
  std::string text() const;

 private:
  mutable Mutex mutex_;
  std::string tail_ ARGOSY_GUARDED_BY(mutex_);
};

// What a command reads as its stdin: a file that it gets as it is, or a stream that is copied into a pipe. Neither: nothing.
struct CommandInput {
  Fd file;
  std::unique_ptr<ByteStream> stream;
};

// A running command whose stdout is the stream. Its end is the end of the data only if the command exits with 0; anything
// else is an error with the command, the exit status and the end of its stderr. A command may leave its input unread
// (`head`). What it writes to stderr also goes to ours as it comes.
//
// It runs in a process group of its own; the destructor kills that group where the command still runs, and reaps it.
// Thread-compatible.
class PipeCommand : public ByteStream {
 public:
  // Starts argv[0], looked up in PATH. `title` names the command in messages. `stop` must outlive the process.
  static Result<std::unique_ptr<PipeCommand>> start(const std::vector<std::string>& argv, std::string title, CommandInput input,
                                                    std::shared_ptr<StderrTail> errors, const StopSignal& stop);
  PipeCommand(const PipeCommand&) = delete;

  Result<size_t> read(std::span<char> room) override;

 private:
  PipeCommand(std::string title, std::unique_ptr<ByteStream> input, std::shared_ptr<StderrTail> errors, const StopSignal& stop);

  Status spawn(const std::vector<std::string>& argv, const Fd& input_file);
  Status feed();        // moves some input into the command
  void drain_errors();  // takes what is there of its stderr
  Status await_exit();  // after the end of stdout
  Status judge(const ExitStatus& exit);

  const std::string title_;
  std::unique_ptr<ByteStream> input_;
  const std::shared_ptr<StderrTail> errors_;
  const StopSignal& stop_;

  Fd stdin_, stdout_, stderr_;  // our ends
  std::optional<ChildProcess> child_;  // none once it has ended
  std::vector<char> pending_;  // read from input_, not yet written
  size_t pending_begin_ = 0, pending_end_ = 0;
};

}  // namespace argosy::data
