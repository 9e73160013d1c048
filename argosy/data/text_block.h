#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "argosy/base/clock.h"
#include "argosy/data/arrow_columns.h"
#include "argosy/data/buffer.h"
#include "argosy/data/byte_stream.h"
#include "argosy/data/pipe_command.h"

namespace argosy::data {

// Where lines come from, for messages. Shared by the blocks of a file; thread-safe.
struct TextOrigin {
  std::string path;
  std::string command;  // empty where no pipe command ran
  int64_t file = 0;     // its place among the parts of the files (FileParts)
  uint64_t file_key = 0;  // see LinePlace
  std::shared_ptr<StderrTail> errors = std::make_shared<StderrTail>();
  std::optional<int64_t> first_offset;  // of a log's messages: that of line 1; a line that is empty is no message
  std::string group;  // of rows: "row group 3"
  std::shared_ptr<const ArrowColumns> columns = nullptr;  // of rows: what they are to slots
};

// When text last came from any file, which says more than when a block was full: short lines take long to fill one. Thread-safe.
class TextClock {
 public:
  void tick() { last_ = SteadyClock::now(); }
  double silent_seconds() const { return std::chrono::duration<double>(SteadyClock::now() - last_.load()).count(); }

 private:
  std::atomic<SteadyClock::time_point> last_{SteadyClock::now()};
};

// Some whole lines of one file, with kTextPadding behind them, and how far they have been parsed; or rows of a table, which then
// are the lines: `size` and `at` count them. Movable and recyclable; thread-compatible.
struct TextBlock {
  std::shared_ptr<const TextOrigin> origin;
  Buffer text;
  std::shared_ptr<const ArrowArray> rows;  // null: text
  size_t size = 0;
  size_t at = 0;      // start of the next line to parse
  int64_t line = 0;   // its number in the file, from 1
  int64_t lines = 0;  // in the whole block

  const char* begin() const { return text.data() + at; }
  bool done() const { return at >= size; }
};

// Cuts a stream into blocks of lines. A last line without a newline is a line like the others. Thread-compatible.
class BlockReader {
 public:
  // Blocks hold a multiple of `lines` lines where the text allows it, so that a batch seldom needs two of them.
  // `clock`, where there is one, ticks when text comes, and outlives the reader.
  BlockReader(std::unique_ptr<ByteStream> stream, std::shared_ptr<const TextOrigin> origin, int64_t lines,
              TextClock* clock = nullptr);

  // Fills `block` with the next lines; false at the end. A line of more than kLongestLine bytes is an error.
  Result<bool> next(TextBlock& block);

  static constexpr size_t kLongestLine = 64 << 20;

 private:
  Status read_more();
  bool find_cut();  // moves cut_ over whole lines; true when they make a block

  std::unique_ptr<ByteStream> stream_;
  const std::shared_ptr<const TextOrigin> origin_;
  const int64_t lines_per_block_;
  TextClock* const clock_;

  Buffer raw_;  // [begin_, end_) has been read and not been given out
  size_t begin_ = 0, end_ = 0;
  size_t cut_ = 0;         // begin_ <= cut_ <= end_: whole lines end here
  size_t searched_ = 0;    // no newline in [cut_, searched_)
  int64_t cut_lines_ = 0;  // lines in [begin_, cut_)
  int64_t next_line_ = 1;
  bool ended_ = false;
};

}  // namespace argosy::data
