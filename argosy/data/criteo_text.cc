#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

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

Status append_block(const CriteoDecoder& decoder, TextBlock& block, std::string& out) {
  CriteoSample sample;
  LineError error;
  for (; !block.done(); ++block.line) {
    const char* next = decoder.decode(block.begin(), sample, error);
    if (next == nullptr)
      return Status::invalid_argument("{}:{}:{}: {}", block.origin->path, block.line, error.at - block.begin() + 1, error.what);
    append_sample(decoder, sample, out);
    block.at = static_cast<size_t>(next - block.text.data());
  }
  return {};
}

}  // namespace

Status criteo_to_multislot(int in_fd, int out_fd, const CriteoOptions& options) {
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
    RETURN_IF_ERROR(append_block(decoder, block, out));
    RETURN_IF_ERROR(write_all(out_fd, out));
  }
}

}  // namespace argosy::data
