#include "argosy/observe/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <filesystem>

#include "argosy/base/file.h"
#include "argosy/base/system_error.h"

namespace argosy::observe {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

constexpr std::array<uint32_t, 256> make_crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82F63B78u : 0);
    table[i] = value;
  }
  return table;
}

template <typename Number>
std::string bytes_of(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::string masked_crc(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return bytes_of(((crc >> 15) | (crc << 17)) + 0xa282ead8u);
}

// The fields of protobuf messages, by number.
std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string key(int field, int kind) { return varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(kind)); }
std::string integer_field(int field, int64_t value) { return key(field, 0) + varint(static_cast<uint64_t>(value)); }
std::string double_field(int field, double value) { return key(field, 1) + bytes_of(value); }
std::string float_field(int field, float value) { return key(field, 5) + bytes_of(value); }
std::string bytes_field(int field, std::string_view bytes) { return key(field, 2) + varint(bytes.size()) + std::string(bytes); }
std::string doubles_field(int field, const std::vector<double>& values) {
  return bytes_field(field, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// Event{summary: Summary{value: Value{tag, …}}}.
std::string summary_field(std::string_view tag, const std::string& value) {
  return bytes_field(5, bytes_field(1, bytes_field(1, tag) + value));
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = make_crc_table();
  uint32_t crc = ~0u;
  for (const char c : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  return ~crc;
}

Result<EventFile> EventFile::open(const std::string& folder) {
  RETURN_IF_ERROR(make_folder(folder));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  const std::filesystem::path path =
      std::filesystem::path(folder) / fmt::format("events.out.tfevents.{}.{}.{}", seconds.count(), host_name(), ::getpid());
  EventFile file(Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)));
  if (!file.file_.open()) return system_error("cannot write the event file", path);
  RETURN_IF_ERROR(file.write_event(bytes_field(3, "brain.Event:2"), 0));
  return file;
}

Status EventFile::write_event(const std::string& content, int64_t step) {
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return write_record(double_field(1, now) + integer_field(2, step) + content);
}

Status EventFile::write_record(const std::string& bytes) {
  const std::string length = bytes_of(static_cast<uint64_t>(bytes.size()));
  const std::string record = length + masked_crc(length) + bytes + masked_crc(bytes);
  const ssize_t written = ::write(file_.get(), record.data(), record.size());
  if (written == static_cast<ssize_t>(record.size())) return {};
  return system_error("cannot write to the event file", "");
}

Status EventFile::scalar(std::string_view tag, int64_t step, double value) {
  return write_event(summary_field(tag, float_field(2, static_cast<float>(value))), step);
}

Status EventFile::histogram(std::string_view tag, int64_t step, const HistogramValues& values) {
  double count = 0, squares = 0, low = 0, high = 0, below = 0;
  for (size_t i = 0; i < values.counts.size(); ++i) {
    const double middle = (below + values.bounds[i]) / 2;
    if (values.counts[i] > 0 && count == 0) low = below;
    if (values.counts[i] > 0) high = values.bounds[i];
    count += values.counts[i];
    squares += values.counts[i] * middle * middle;
    below = values.bounds[i];
  }
  const std::string histogram = double_field(1, low) + double_field(2, high) + double_field(3, count) +
                                double_field(4, values.sum) + double_field(5, squares) + doubles_field(6, values.bounds) +
                                doubles_field(7, values.counts);
  return write_event(summary_field(tag, bytes_field(5, histogram)), step);
}

}  // namespace argosy::observe
