#include "argosy/data/text_block.h"

#include <algorithm>
#include <cstring>

#include "argosy/data/line_parser.h"

namespace argosy::data {
namespace {

constexpr size_t kSmallBlock = 32 << 10;  // smaller ones cost more in hand-over than they gain in sharing
constexpr size_t kLargeBlock = 1 << 20;
constexpr size_t kReadBytes = 256 << 10;

}  // namespace

BlockReader::BlockReader(std::unique_ptr<ByteStream> stream, std::shared_ptr<const TextOrigin> origin, int64_t lines,
                         TextClock* clock)
    : stream_(std::move(stream)), origin_(std::move(origin)), lines_per_block_(std::max<int64_t>(lines, 1)), clock_(clock) {}

Result<bool> BlockReader::next(TextBlock& block) {
  while (!find_cut() && !ended_) RETURN_IF_ERROR(read_more());
  if (cut_ == begin_) return false;
  block.origin = origin_;
  block.size = cut_ - begin_;
  block.at = 0;
  block.line = next_line_;
  block.lines = cut_lines_;
  block.text.reserve(block.size + kTextPadding, 0);
  std::memcpy(block.text.data(), raw_.data() + begin_, block.size);
  std::memset(block.text.data() + block.size, 0, kTextPadding);
  begin_ = cut_;
  next_line_ += cut_lines_;
  cut_lines_ = 0;
  return true;
}

bool BlockReader::find_cut() {
  while (cut_ - begin_ < kLargeBlock) {
    if (cut_lines_ > 0 && cut_lines_ % lines_per_block_ == 0 && cut_ - begin_ >= kSmallBlock) return true;
    const void* newline = end_ > searched_ ? std::memchr(raw_.data() + searched_, '\n', end_ - searched_) : nullptr;
    if (newline == nullptr) {
      searched_ = end_;
      return false;
    }
    cut_ = searched_ = static_cast<size_t>(static_cast<const char*>(newline) - raw_.data()) + 1;
    ++cut_lines_;
  }
  return true;
}

Status BlockReader::read_more() {
  if (end_ - cut_ > kLongestLine) {
    return Status::invalid_argument("{}:{}: the line has more than {} MiB and no end; is the file text, one sample a line?",
                                    origin_->path, next_line_ + cut_lines_, kLongestLine >> 20);
  }
  if (begin_ > 0) {
    std::memmove(raw_.data(), raw_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    cut_ -= begin_;
    searched_ -= begin_;
    begin_ = 0;
  }
  raw_.reserve(end_ + kReadBytes, end_);
  ASSIGN_OR_RETURN(const size_t got, stream_->read({raw_.data() + end_, raw_.capacity() - end_}));
  end_ += got;
  if (got > 0 && clock_ != nullptr) clock_->tick();
  if (got > 0) return {};
  ended_ = true;
  if (end_ > cut_) {  // the last line has no newline of its own
    raw_.reserve(end_ + 1, end_);
    raw_.data()[end_++] = '\n';
    cut_ = searched_ = end_;
    ++cut_lines_;
  }
  return {};
}

}  // namespace argosy::data
