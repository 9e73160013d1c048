#pragma once

#include <memory>
#include <string>

#include "argosy/data/byte_stream.h"
#include "argosy/data/message_bytes.h"
#include "argosy/data/pipe_command.h"
#include "argosy/data/remote_store.h"

namespace argosy::data {

// One input file and the way to its text.
struct PipeOptions {
  std::string path;             // or the URI of an object; one of hdfs: or afs: is read through the store's command
  std::string command = "cat";  // a shell command that turns the file (its stdin) into lines (its stdout)
  RemoteStore store = {};
  MessageForm messages = MessageForm::text;  // of a range of messages
};

// "cat" and nothing at all stand for the file itself: no process is started for them.
bool is_identity_command(const std::string& command);

// Opens the file, unpacks it where its name ends with .gz or .zst, and runs the command on it. Errors, now and while
// reading, name the file and the command; the stderr of what was started is in `errors`. `stop` must outlive the stream.
Result<std::unique_ptr<ByteStream>> open_pipe(const PipeOptions& options, std::shared_ptr<StderrTail> errors,
                                              const StopSignal& stop);

}  // namespace argosy::data
