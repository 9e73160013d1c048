// Any bytes as a log file: no crash, and what is taken for good is good: it holds whole records and is found again.
//
// The first byte of an input says what the rest is: even, a file as it stands; odd, records that get good checksums, so that
// sizes and batches which no writer makes come past them.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "argosy/base/check.h"
#include "argosy/base/fd.h"
#include "argosy/table/checksum.h"
#include "argosy/table/log_format.h"
#include "argosy/table/log_segment.h"

using namespace argosy;
using namespace argosy::table;

namespace {

// A file in memory, with a path to open it by.
LogSegment write_segment(const Fd& file, std::string_view bytes) {
  ARGOSY_CHECK(::ftruncate(file.get(), 0) == 0);
  ARGOSY_CHECK(::pwrite(file.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  return {.path = fmt::format("/proc/self/fd/{}", file.get()), .first = 0, .size = bytes.size()};
}

void append(std::string& file, const HeaderBytes& header) {
  file.append(reinterpret_cast<const char*>(header.data()), header.size());
}

// Each record of the input: 2 bytes of size, 1 of what is wrong with it, 8 for that, the payload.
std::string repaired(std::string_view input) {
  std::string file;
  append(file, encode_segment_header(0));
  while (input.size() >= 11) {
    uint16_t size = 0;
    uint64_t value = 0;
    std::memcpy(&size, input.data(), 2);
    std::memcpy(&value, input.data() + 3, 8);
    const auto wrong = static_cast<unsigned char>(input[2]);
    const std::string_view payload = input.substr(11, size);
    input.remove_prefix(std::min(input.size(), 11 + static_cast<size_t>(size)));
    RecordHeader header{
        .length = payload.size(), .checksum = checksum_of(std::as_bytes(std::span(payload))), .batch = file.size()};
    if ((wrong & 1) != 0) header.batch = value;
    if ((wrong & 2) != 0) header.length = value;
    if ((wrong & 4) != 0) header.checksum = value;
    append(file, encode_record_header(header, file.size() + ((wrong & 8) != 0 ? 8 : 0)));
    file += payload;
    file.append(padding_after(payload.size()), '\0');
  }
  return file.append(input);
}

// Every byte behind the segment's header is in one piece, and what is whole after a power cut is whole.
void check_pieces(const LogSegment& segment) {
  uint64_t end = kSegmentHeaderSize, whole = kSegmentHeaderSize;
  const Status scanned = scan_segment(segment, 0, [&](const LogPiece& piece) {
    ARGOSY_CHECK(piece.offset == end && piece.size > 0, "pieces leave a gap");
    if (piece.problem.empty() && whole == end) whole += piece.size;
    end += piece.size;
    return Status();
  });
  if (!scanned.ok()) return;
  ARGOSY_CHECK(end == segment.size, "a scan ends early");
  const auto good = find_good_size(segment, 0);
  ARGOSY_CHECK(good.ok() && *good == whole, "after a power cut the whole records before the first bad one count");
}

void check(LogSegment segment) {
  if (segment.size >= kSegmentHeaderSize) check_pieces(segment);
  const auto good = find_good_size(segment);
  if (!good.ok()) {
    ARGOSY_CHECK(good.status().code() == Code::data_loss, good.status().message());
    return;
  }
  ARGOSY_CHECK(*good <= segment.size, "more good bytes than bytes");
  if (*good == 0) return;
  segment.size = *good;
  const auto again = find_good_size(segment);
  ARGOSY_CHECK(again.ok() && *again == *good, "a log that was cut is cut again");
  uint64_t end = kSegmentHeaderSize;
  const Status status = replay_segment(segment, 0, [&](uint64_t position, Bytes record) {
    ARGOSY_CHECK(position == end, "records leave a gap");
    end += record_size(record.size());
    return Status();
  });
  ARGOSY_CHECK(status.ok() ? end == *good : status.code() == Code::data_loss, "a replay ends early without a word");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Fd file(::memfd_create("log", MFD_CLOEXEC));
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  check(write_segment(file, data[0] % 2 == 0 ? std::string(input) : repaired(input)));
  return 0;
}
