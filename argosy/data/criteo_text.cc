#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "argosy/base/log.h"
#include "argosy/data/criteo.h"
#include "argosy/data/criteo_decoder.h"
#include "argosy/data/text_block.h"

namespace argosy::data {
namespace {

void append_sample(const CriteoDecoder& decoder, const CriteoSample& sample, std::string& out) {
  out += "13";
  for (int i = 0; i < kCriteoDense; ++i) {
    out += ' ';
    decoder.append_dense(sample, i, out);
  }
  for (int64_t id : sample.ids) {
    const fmt::format_int digits(id);
    out += " 1 ";
    out.append(digits.data(), digits.size());
  }
  const fmt::format_int label(sample.label);
  out += " 1 ";
  out.append(label.data(), label.size());
  out += '\n';
}

Status write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      return Status::unavailable("cannot write the MultiSlot text: {}", system_reason(errno));
    }
  }
  return {};
}

// What follows the line that begins at `line`; a block's last line may lack its end.
const char* after_line(const TextBlock& block, const char* line) {
  const char* end = block.text.data() + block.size;
  const char* newline = std::find(line, end, '\n');
  return newline == end ? end : newline + 1;
}

// `bad_lines_left` is how many lines may still be left out.
Status append_block(const CriteoDecoder& decoder, TextBlock& block, int64_t& bad_lines_left, std::string& out) {
  CriteoSample sample;
  LineError error;
  for (; !block.done(); ++block.line) {
    const char* next = decoder.decode(block.begin(), sample, error);
    if (next == nullptr) {
      const Status bad =
          Status::invalid_argument("{}:{}:{}: {}", block.origin->path, block.line, error.at - block.begin() + 1, error.what);
      if (bad_lines_left-- <= 0) return bad;
      log_warning("left out: {}", bad.message());
      next = after_line(block, block.begin());
    } else {
      append_sample(decoder, sample, out);
    }
    block.at = static_cast<size_t>(next - block.text.data());
  }
  return {};
}

}  // namespace

Status criteo_to_multislot(int in_fd, int out_fd, const CriteoOptions& options, int64_t max_bad_lines) {
  RETURN_IF_ERROR(check_criteo(options));
  Fd input(::fcntl(in_fd, F_DUPFD_CLOEXEC, 0));
  if (!input.open()) return Status::invalid_argument("cannot read the Criteo text: {}", system_reason(errno));
  auto origin = std::make_shared<TextOrigin>();
  origin->path = "criteo";
  const StopSignal never;
  RETURN_IF_ERROR(never.status());
  BlockReader reader(read_fd(std::move(input), origin->path, never), origin, 1);
  const CriteoDecoder decoder(options);
  TextBlock block;
  std::string out;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader.next(block));
    if (!more) return {};
    out.clear();
    RETURN_IF_ERROR(append_block(decoder, block, max_bad_lines, out));
    RETURN_IF_ERROR(write_all(out_fd, out));
  }
}

}  // namespace argosy::data
