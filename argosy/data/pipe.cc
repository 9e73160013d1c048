#include "argosy/data/pipe.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "argosy/base/text.h"
#include "argosy/base/uri.h"
#include "argosy/data/decompress.h"
#include "argosy/data/message_log.h"
#include "argosy/data/object_store.h"

namespace argosy::data {
namespace {

Result<std::unique_ptr<ByteStream>> open_remote(const PipeOptions& options, std::shared_ptr<StderrTail> errors,
                                                const StopSignal& stop) {
  const std::vector<std::string> order = {"-cat", options.path};
  ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> stream,
                   PipeCommand::start(store_command(options.store, order), store_title(order), {}, std::move(errors), stop));
  return decompress_by_name(std::move(stream), options.path);
}

// The file as the command's stdin: as it is where that can be, else through a stream of ours.
Result<CommandInput> open_local(const PipeOptions& options, const StopSignal& stop) {
  ASSIGN_OR_RETURN(Fd file, open_for_reading(local_path(options.path)));
  struct stat info{};
  if (!is_packed_name(options.path) && ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode)) {
    ::fcntl(file.get(), F_SETFL, 0);  // no O_NONBLOCK for the child
    return CommandInput{.file = std::move(file), .stream = nullptr};
  }
  return CommandInput{.file = {}, .stream = decompress_by_name(read_fd(std::move(file), options.path, stop), options.path)};
}

// Adds the file's name to what goes wrong in a command.
class NamedStream : public ByteStream {
 public:
  NamedStream(std::unique_ptr<ByteStream> stream, std::string path) : stream_(std::move(stream)), path_(std::move(path)) {}
  Result<size_t> read(std::span<char> room) override {
    Result<size_t> got = stream_->read(room);
    if (!got.ok()) return got.status().with_context("data file '{}'", path_);
    return got;
  }

 private:
  std::unique_ptr<ByteStream> stream_;
  const std::string path_;
};

}  // namespace

bool is_identity_command(const std::string& command) {
  const std::string_view words = trim(command);
  return words.empty() || words == "cat";
}

Result<std::unique_ptr<ByteStream>> open_pipe(const PipeOptions& options, std::shared_ptr<StderrTail> errors,
                                              const StopSignal& stop) {
  CommandInput input;
  if (is_message_range(options.path)) {
    ASSIGN_OR_RETURN(MessageLogs * logs, message_logs());
    ASSIGN_OR_RETURN(const MessageRange range, parse_message_range(options.path));
    ASSIGN_OR_RETURN(input.stream, logs->read(range, options.messages, stop));
  } else if (is_store_uri(options.path)) {
    ASSIGN_OR_RETURN(auto packed, stream_object(options.path, stop));
    input.stream = decompress_by_name(std::move(packed), std::string(without_query(options.path)));
  } else if (is_remote_path(options.path)) {
    ASSIGN_OR_RETURN(input.stream, open_remote(options, errors, stop));
  } else {
    ASSIGN_OR_RETURN(input, open_local(options, stop));
  }
  if (is_identity_command(options.command)) {
    if (input.file.open()) return read_fd(std::move(input.file), options.path, stop);
    return std::unique_ptr<ByteStream>(std::make_unique<NamedStream>(std::move(input.stream), options.path));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> process, PipeCommand::start({"/bin/sh", "-c", options.command}, options.command,
                                                                           std::move(input), std::move(errors), stop));
  return std::unique_ptr<ByteStream>(std::make_unique<NamedStream>(std::move(process), options.path));
}

}  // namespace argosy::data
