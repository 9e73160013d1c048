#include "argosy/data/feed.h"

#include <algorithm>
#include <cstring>

#include "argosy/base/log.h"
#include "argosy/data/multislot.h"
#include "argosy/data/pipe.h"

namespace argosy::data {
namespace {

constexpr int64_t kBadLinesLogged = 5;
// A consumer may take as long as it likes between two batches; stop() closes the queue and so ends a reader's wait for it.
constexpr double kUntilClosed = 1e9;
constexpr int kPatienceSeconds = 60;  // after so long without data a line in the log says so; the wait itself ends by stop()

size_t queue_length(int consumers) { return 4 * static_cast<size_t>(std::max(consumers, 2)); }

}  // namespace

Result<std::unique_ptr<LineParser>> make_parser(const DatasetOptions& options) {
  if (options.criteo.has_value()) {
    ASSIGN_OR_RETURN(std::unique_ptr<LineParser> parser, CriteoParser::make(options.slots, *options.criteo));
    return parser;
  }
  RETURN_IF_ERROR(check_slots(options.slots));
  return std::unique_ptr<LineParser>(std::make_unique<MultiSlotParser>(options.slots));
}

FileFeed::FileFeed(const DatasetOptions& options, const LineParser& parser, int consumers)
    : options_(options), parser_(parser), full_(queue_length(consumers)), empty_(2 * queue_length(consumers)) {
  const int readers = static_cast<int>(std::min<size_t>(static_cast<size_t>(consumers), options_.files.size()));
  readers_left_ = readers;
  for (int i = 0; i < readers; ++i) readers_.emplace_back(fmt::format("data-read-{}", i), [this] { read_files(); });
}

void FileFeed::read_files() {
  const auto files = static_cast<int64_t>(options_.files.size());
  for (int64_t file = next_file_++; file < files && !stop_.stopped(); file = next_file_++) {
    if (Status status = read_file(file); !status.ok()) {
      (void)fail(std::move(status));
      break;
    }
  }
  if (--readers_left_ == 0) full_.close();
}

Status FileFeed::read_file(int64_t file) {
  RETURN_IF_ERROR(stop_.status());
  auto origin = std::make_shared<TextOrigin>();
  origin->path = options_.files[static_cast<size_t>(file)];
  origin->file = file;
  if (!is_identity_command(options_.pipe_command)) origin->command = options_.pipe_command;
  const PipeOptions pipe{.path = origin->path, .command = options_.pipe_command, .store = options_.store};
  ASSIGN_OR_RETURN(auto stream, open_pipe(pipe, origin->errors, stop_));
  BlockReader reader(std::move(stream), origin, options_.batch_size);
  for (;;) {
    const Stopwatch watch;
    TextBlock block = empty_.try_pop().value_or(TextBlock{});
    ASSIGN_OR_RETURN(const bool more, reader.next(block));
    count_time(read_ns_, watch);
    if (!more) return {};
    bytes_ += static_cast<int64_t>(block.size);
    const QueueState state = full_.push(std::move(block), Deadline::after_seconds(kUntilClosed));
    if (state != QueueState::ok) return Status::cancelled("reading was stopped");
  }
}

Result<bool> FileFeed::next_block(TextBlock& block) {
  if (block.text.capacity() > 0) (void)empty_.push(std::move(block), Deadline::after_seconds(0));
  for (int waited = 0;;) {
    const QueueState state = full_.pop(block, Deadline::after_seconds(kPatienceSeconds));
    RETURN_IF_ERROR(failure());
    if (state == QueueState::ok) return true;
    if (state == QueueState::closed) return false;
    waited += kPatienceSeconds;
    log_warning("no line came from the pipe command '{}' for {} s", options_.pipe_command, waited);
  }
}

Status FileFeed::parse(TextBlock& block, int64_t limit, Batch& batch) {
  if (stop_.stopped()) return failure();
  const Stopwatch watch;
  const int64_t first = block.line;
  LineError error;
  for (; batch.size < limit && !block.done(); ++block.line) {
    const char* next = parser_.parse_line(block.begin(), batch, error);
    if (next == nullptr) [[unlikely]] {
      batch.drop_unfinished_sample();
      RETURN_IF_ERROR(note_bad_line(block, error));
      next = static_cast<const char*>(std::memchr(block.begin(), '\n', block.size - block.at)) + 1;
    }
    block.at = static_cast<size_t>(next - block.text.data());
  }
  lines_ += block.line - first;
  count_time(parse_ns_, watch);
  return {};
}

Status FileFeed::note_bad_line(const TextBlock& block, const LineError& error) {
  const TextOrigin& origin = *block.origin;
  std::string message = fmt::format("{}:{}:{}: {}", origin.path, block.line, error.at - block.begin() + 1, error.what);
  if (!origin.command.empty()) {
    message += fmt::format("; the line is from the output of the pipe command '{}'", origin.command);
    if (const std::string errors = origin.errors->text(); !errors.empty()) message += "; its stderr ends with:\n" + errors;
  }
  const int64_t bad = ++bad_lines_;
  if (bad <= options_.max_bad_lines) {
    if (bad <= kBadLinesLogged) log_warning("bad line {} of at most {} is left out: {}", bad, options_.max_bad_lines, message);
    return {};
  }
  if (options_.max_bad_lines > 0)
    message = fmt::format("more than {} bad lines (max_bad_lines); the last: {}", options_.max_bad_lines, message);
  return fail(Status(Code::invalid_argument, std::move(message)));
}

Status FileFeed::fail(Status status) {
  Status kept;
  {
    std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = std::move(status);
    kept = failure_;
  }
  stop_.stop();
  full_.close();
  return kept;
}

Status FileFeed::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

void FileFeed::stop() {
  (void)fail(Status::cancelled("the dataset was stopped"));
  std::lock_guard lock(join_mutex_);
  for (Thread& reader : readers_) reader.join();
}

DatasetCounters FileFeed::counters() const {
  return {.lines = lines_,
          .bytes = bytes_,
          .bad_lines = bad_lines_,
          .read_seconds = static_cast<double>(read_ns_) * 1e-9,
          .parse_seconds = static_cast<double>(parse_ns_) * 1e-9};
}

void FileFeed::count_time(std::atomic<int64_t>& nanoseconds, const Stopwatch& since) {
  nanoseconds += static_cast<int64_t>(since.seconds() * 1e9);
}

}  // namespace argosy::data
