#include "argosy/data/feed.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/plant.h"
#include "argosy/base/random.h"
#include "argosy/data/arrow_messages.h"
#include "argosy/data/corpus.h"
#include "argosy/data/decompress.h"
#include "argosy/data/json_lines.h"
#include "argosy/data/message_log.h"
#include "argosy/data/multislot.h"
#include "argosy/data/pipe.h"

namespace argosy::data {
namespace {

constexpr int64_t kBadLinesLogged = 5;

// What `skip`, which is ascending, leaves of some lines.
std::vector<LineRange> left_of(LineRange lines, const std::vector<LineRange>& skip) {
  std::vector<LineRange> left;
  uint64_t first = lines.first;
  const uint64_t end = lines.first + lines.count;
  for (const LineRange& skipped : skip) {
    if (skipped.first >= end) break;
    if (skipped.first > first) left.push_back({.first = first, .count = skipped.first - first});
    first = std::max(first, skipped.first + skipped.count);
  }
  if (first < end) left.push_back({.first = first, .count = end - first});
  return left;
}

// Where the text goes on after so many lines. REQUIRES: the block has them, from `at` on.
size_t behind_lines(const TextBlock& block, size_t at, uint64_t lines) {
  if (block.rows != nullptr) return at + lines;
  for (; lines > 0; --lines) {
    const void* newline = std::memchr(block.text.data() + at, '\n', block.size - at);
    at = static_cast<size_t>(static_cast<const char*>(newline) - block.text.data()) + 1;
  }
  return at;
}

void copy_lines(const TextBlock& from, size_t begin, size_t end, TextBlock& to) {
  to.origin = from.origin;
  to.rows = from.rows;
  if (from.rows != nullptr) {
    to.at = begin;
    to.size = end;
    return;
  }
  to.size = end - begin;
  to.at = 0;
  to.text.reserve(to.size + kTextPadding, 0);
  std::memcpy(to.text.data(), from.text.data() + begin, to.size);
  std::memset(to.text.data() + to.size, 0, kTextPadding);
}

std::vector<int64_t> sizes_of(const DatasetOptions& options, const FileParts& parts) {
  std::vector<int64_t> sizes;
  if (options.handout != nullptr) return sizes;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].bytes) return {};
    sizes.push_back(*parts[i].bytes);
  }
  return sizes;
}

int reader_count(const FileParts& parts, int consumers) {
  return static_cast<int>(std::clamp<size_t>(parts.size(), 1, static_cast<size_t>(consumers)));
}

size_t blocks_ahead(int consumers) { return 4 * static_cast<size_t>(std::max(consumers, 2)); }

}  // namespace

Result<std::unique_ptr<LineParser>> make_parser(const DatasetOptions& options, uint64_t pass) {
  if (options.corpus.has_value()) {
    ASSIGN_OR_RETURN(std::unique_ptr<LineParser> parser, CorpusParser::make(options.slots, *options.corpus, pass));
    return parser;
  }
  if (options.criteo.has_value()) {
    ASSIGN_OR_RETURN(std::unique_ptr<LineParser> parser, CriteoParser::make(options.slots, *options.criteo));
    return parser;
  }
  if (options.format == FileFormat::arrow && std::ranges::any_of(options.files, is_message_range)) {
    ASSIGN_OR_RETURN(std::unique_ptr<LineParser> parser, ArrowMessageParser::make(options.slots, options.columns));
    return parser;
  }
  if (options.format == FileFormat::json) {
    ASSIGN_OR_RETURN(std::unique_ptr<LineParser> parser, JsonParser::make(options.slots, options.columns));
    return parser;
  }
  RETURN_IF_ERROR(check_slots(options.slots));
  return std::unique_ptr<LineParser>(std::make_unique<MultiSlotParser>(options.slots));
}

FileFeed::FileFeed(const DatasetOptions& options, std::shared_ptr<const FileParts> parts, const LineParser& parser, int consumers,
                   double patience_seconds)
    : options_(options),
      parts_(std::move(parts)),
      parser_(parser),
      reader_count_(reader_count(*parts_, consumers)),
      patience_seconds_(patience_seconds),
      part_bytes_(sizes_of(options_, *parts_)),
      plain_(options_.table == nullptr && is_identity_command(options_.pipe_command) &&
             std::ranges::none_of(options_.files,
                                  [this](const std::string& file) { return is_packed_name(file) || is_table(options_, file); })),
      empty_(2 * blocks_ahead(consumers)),
      lanes_(
          static_cast<size_t>(reader_count_), blocks_ahead(consumers) / static_cast<size_t>(reader_count_),
          [this] { warn_of_silence(); }, patience_seconds) {
  for (int i = 0; i < reader_count_; ++i) readers_.emplace_back(fmt::format("data-read-{}", i), [this, i] { read_files(i); });
}

// Who waits for a block waits for its last line; others may have come.
void FileFeed::warn_of_silence() const {
  const double silent = clock_.silent_seconds();
  if (silent < patience_seconds_) return;
  if (is_identity_command(options_.pipe_command))
    log_warning("no line came from the files for {:.0f} s", silent);
  else
    log_warning("no line came from the pipe command '{}' for {:.0f} s", options_.pipe_command, silent);
}

void FileFeed::read_files(int reader) {
  int64_t lines = 0;
  PartReader rows(*parts_, options_.format, stop_);
  for (size_t read = 0; !stop_.stopped(); ++read) {
    const auto file = next_file(reader, read, lines);
    if (file.ok() && !*file) break;
    auto had = file.ok() ? read_part(reader, rows, **file) : Result<int64_t>(file.status());
    if (!had.ok()) {
      (void)fail(had.status());
      break;
    }
    lines = *had;
  }
  lanes_.end(static_cast<size_t>(reader));
}

// A reader is far ahead of those who train: when they want more, another process may have been lost meanwhile.
Result<std::optional<FileHandout::File>> FileFeed::next_file(int reader, size_t read, int64_t lines) {
  if (options_.handout != nullptr && parts_->size() > 0) {
    ASSIGN_OR_RETURN(auto file, options_.handout->next(parts_->size(), reader, lines));
    if (file || !lanes_.wait_for_demand(static_cast<size_t>(reader))) return file;
    return options_.handout->next(parts_->size(), reader, lines);
  }
  const size_t file = static_cast<size_t>(reader) + read * static_cast<size_t>(reader_count_);
  return file < parts_->size() ? std::optional(FileHandout::File{.place = file}) : std::nullopt;
}

// A block whose buffer comes from one that has been parsed, and goes back when this one has been.
std::shared_ptr<TextBlock> FileFeed::new_block() {
  return {new TextBlock(empty_.try_pop().value_or(TextBlock{})), [this](TextBlock* parsed) {
            parsed->rows = nullptr;
            (void)empty_.push(std::move(*parsed), Deadline::after_seconds(0));
            delete parsed;
          }};
}

Result<int64_t> FileFeed::read_part(int reader, PartReader& rows, const FileHandout::File& file) {
  RETURN_IF_ERROR(stop_.status());
  if (file.place >= parts_->size())
    return Status::data_loss(
        "part {} of the files was handed out, and this process finds {}: the workers' lists differ, or a file was changed",
        file.place, parts_->size());
  for (const LineRange& lines : file.skip) lines_of_lost_ += static_cast<int64_t>(lines.count);
  lines_in_parts_ += file.in_parts;
  const auto lines = file.lines ? file.lines : (*parts_)[file.place].lines;
  if (lines && left_of({1, static_cast<uint64_t>(*lines)}, file.skip).empty()) return *lines;
  return (*parts_)[file.place].text() ? read_text(reader, file) : read_rows(reader, rows, file);
}

std::shared_ptr<TextOrigin> FileFeed::origin_of(size_t part) const {
  auto origin = std::make_shared<TextOrigin>();
  origin->path = (*parts_)[part].path;
  origin->file = static_cast<int64_t>(part);
  origin->file_key = mix64(std::filesystem::path(origin->path).filename().string());
  if (!is_identity_command(options_.pipe_command)) origin->command = options_.pipe_command;
  if (is_message_range(origin->path) && origin->command.empty()) origin->first_offset = (*parts_)[part].number;
  origin->group = (*parts_)[part].group;
  origin->columns = (*parts_)[part].columns;
  return origin;
}

Result<int64_t> FileFeed::read_rows(int reader, PartReader& rows, const FileHandout::File& file) {
  const FilePart& part = (*parts_)[file.place];
  const std::shared_ptr<const TextOrigin> origin = origin_of(file.place);
  Stopwatch watch;
  RETURN_IF_ERROR(rows.begin(file.place));
  for (int64_t lines = 0;;) {
    ASSIGN_OR_RETURN(auto range, rows.next());
    count_time(read_ns_, watch);
    if (!range) return lines;
    clock_.tick();
    const std::shared_ptr<TextBlock> block = new_block();
    block->origin = origin;
    block->rows = std::move(range->rows);
    block->at = static_cast<size_t>(range->begin);
    block->size = static_cast<size_t>(range->end);
    block->line = lines + 1;
    block->lines = range->end - range->begin;
    const int64_t bytes = *part.bytes * block->lines / *part.lines;
    bytes_ += bytes;
    if (!part_bytes_.empty()) finished_bytes_ += bytes;
    lines += block->lines;
    RETURN_IF_ERROR(push(reader, block, file.skip));
    watch.restart();
  }
}

Result<int64_t> FileFeed::read_text(int reader, const FileHandout::File& file) {
  const std::shared_ptr<TextOrigin> origin = origin_of(file.place);
  const PipeOptions pipe{.path = origin->path,
                         .command = options_.pipe_command,
                         .store = options_.store,
                         .messages = options_.format == FileFormat::arrow ? MessageForm::bytes : MessageForm::text};
  ASSIGN_OR_RETURN(auto stream, open_pipe(pipe, origin->errors, stop_));
  BlockReader blocks(std::move(stream), origin, options_.batch_size, &clock_);
  for (int64_t lines = 0;;) {
    const Stopwatch watch;
    const std::shared_ptr<TextBlock> block = new_block();
    ASSIGN_OR_RETURN(const bool more, blocks.next(*block));
    count_time(read_ns_, watch);
    if (!more) {
      if (!part_bytes_.empty()) finished_bytes_ += part_bytes_[file.place];
      return lines;
    }
    lines += block->lines;
    bytes_ += static_cast<int64_t>(block->size);
    RETURN_IF_ERROR(push(reader, block, file.skip));
  }
}

// Lines that are left out are left out of the block, which then goes on as several.
Status FileFeed::push(int reader, const std::shared_ptr<TextBlock>& block, const std::vector<LineRange>& skip) {
  const LineRange of_block{static_cast<uint64_t>(block->line), static_cast<uint64_t>(block->lines)};
  const std::vector<LineRange> left = left_of(of_block, skip);
  if (left.size() == 1 && left.front() == of_block) {
    return lanes_.push(static_cast<size_t>(reader), block) ? Status() : Status::cancelled("reading was stopped");
  }
  size_t at = block->at;
  uint64_t line = of_block.first;
  for (const LineRange& lines : left) {
    const size_t begin = behind_lines(*block, at, lines.first - line), end = behind_lines(*block, begin, lines.count);
    at = end;
    line = lines.first + lines.count;
    const std::shared_ptr<TextBlock> part = new_block();
    copy_lines(*block, begin, end, *part);
    part->line = static_cast<int64_t>(lines.first);
    part->lines = static_cast<int64_t>(lines.count);
    if (!lanes_.push(static_cast<size_t>(reader), part)) return Status::cancelled("reading was stopped");
  }
  return {};
}

Result<bool> FileFeed::answer(QueueState state) const {
  RETURN_IF_ERROR(failure());
  return state == QueueState::ok;
}

Result<bool> FileFeed::next_lines(int64_t lines, std::vector<TextPiece>& pieces, uint64_t& number) {
  return answer(lanes_.take(lines, pieces, number));
}

Result<bool> FileFeed::next_block(TextPiece& piece) { return answer(lanes_.take_block(piece)); }

Status FileFeed::parse(TextPiece& piece, Batch& batch) {
  if (stop_.stopped()) return failure();
  if (piece.block->rows != nullptr) return take_rows(piece, batch);
  const Stopwatch watch;
  const int64_t first = piece.line;
  LineError error;
  const bool gaps = piece.block->origin->first_offset.has_value();
  for (; !piece.done(); ++piece.line) {
    if (gaps && *piece.begin() == '\n') {  // an offset without a message
      ++piece.at;
      continue;
    }
    const char* next = parser_.parse_line_at(piece.begin(), {piece.block->origin->file_key, piece.line}, batch, error);
    if (next == nullptr) [[unlikely]] {
      batch.drop_unfinished_sample();
      RETURN_IF_ERROR(note_bad_line(piece, error));
      next = static_cast<const char*>(std::memchr(piece.begin(), '\n', piece.end - piece.at)) + 1;
    }
    piece.at = static_cast<size_t>(next - piece.block->text.data());
  }
  lines_ += piece.line - first;
  count_time(parse_ns_, watch);
  return {};
}

Status FileFeed::note_bad_line(const TextPiece& piece, const LineError& error) {
  const TextOrigin& origin = *piece.block->origin;
  const std::optional<int64_t> byte = error.at == nullptr ? std::nullopt : std::optional(error.at - piece.begin() + 1);
  std::string message =
      origin.first_offset
          ? fmt::format("{}: offset {}{}: {}", origin.path, *origin.first_offset + piece.line - 1,
                        byte ? fmt::format(", byte {}", *byte) : "", error.what)
          : fmt::format("{}:{}{}: {}", origin.path, piece.line, byte ? fmt::format(":{}", *byte) : "", error.what);
  if (!origin.command.empty()) {
    message += fmt::format("; the line is from the output of the pipe command '{}'", origin.command);
    if (const std::string errors = origin.errors->text(); !errors.empty()) message += "; its stderr ends with:\n" + errors;
  }
  return note_bad(std::move(message));
}

Status FileFeed::take_rows(TextPiece& piece, Batch& batch) {
  const Stopwatch watch;
  const TextOrigin& origin = *piece.block->origin;
  while (!piece.done()) {
    const auto at = static_cast<int64_t>(piece.at), end = static_cast<int64_t>(piece.end);
    const auto bad = origin.columns->first_bad(*piece.block->rows, at, end - at);
    const int64_t good = (bad ? bad->row : end) - at;
    origin.columns->append(*piece.block->rows, at, good, batch);
    const int64_t done = good + (bad ? 1 : 0);
    if (bad)
      RETURN_IF_ERROR(note_bad(fmt::format("{}: {}, row {}: {}", origin.path, origin.group, piece.line - 1 + good, bad->what)));
    piece.at += static_cast<size_t>(done);
    piece.line += done;
    lines_ += done;
  }
  count_time(parse_ns_, watch);
  return {};
}

Status FileFeed::note_bad(std::string message) {
  const int64_t bad = ++bad_lines_;
  if (bad <= options_.max_bad_lines || ARGOSY_PLANTED("bad_line_swallowed")) {
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
    MutexLock lock(mutex_);
    if (failure_.ok()) failure_ = std::move(status);
    kept = failure_;
  }
  stop_.stop();
  lanes_.close();
  return kept;
}

Status FileFeed::failure() const {
  MutexLock lock(mutex_);
  return failure_;
}

void FileFeed::stop() {
  (void)fail(Status::cancelled("the dataset was stopped"));
  MutexLock lock(join_mutex_);
  for (Thread& reader : readers_) reader.join();
}

std::optional<double> FileFeed::read_ratio() const {
  const auto all = std::accumulate(part_bytes_.begin(), part_bytes_.end(), int64_t{0});
  if (all == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(plain_ ? bytes_ : finished_bytes_) / static_cast<double>(all));
}

DatasetCounters FileFeed::counters() const {
  return {.lines = lines_,
          .bytes = bytes_,
          .bad_lines = bad_lines_,
          .lines_of_lost = lines_of_lost_,
          .lines_in_parts = lines_in_parts_,
          .read_seconds = static_cast<double>(read_ns_) * 1e-9,
          .parse_seconds = static_cast<double>(parse_ns_) * 1e-9};
}

void FileFeed::count_time(std::atomic<int64_t>& nanoseconds, const Stopwatch& since) {
  nanoseconds += static_cast<int64_t>(since.seconds() * 1e9);
}

}  // namespace argosy::data
