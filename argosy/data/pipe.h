#pragma once

#include <memory>
#include <string>

#include "argosy/data/byte_stream.h"
#include "argosy/data/process.h"

namespace argosy::data {

// One input file and the way to its text.
struct PipeOptions {
  std::string path;             // hdfs: and afs: paths are read through the `hadoop` program
  std::string command = "cat";  // a shell command that turns the file (its stdin) into lines (its stdout)
  std::string fs_name, fs_ugi;  // given to hadoop where they are not empty
};

// "cat" and nothing at all stand for the file itself: no process is started for them.
bool is_identity_command(const std::string& command);
bool is_remote_path(const std::string& path);

// Opens the file, unpacks it where its name ends with .gz or .zst, and runs the command on it. Errors, now and while
// reading, name the file and the command; the stderr of what was started is in `errors`. `stop` must outlive the stream.
Result<std::unique_ptr<ByteStream>> open_pipe(const PipeOptions& options, std::shared_ptr<StderrTail> errors,
                                              const StopSignal& stop);

}  // namespace argosy::data
