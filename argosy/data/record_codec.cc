#include <algorithm>

#include "argosy/base/random.h"
#include "argosy/data/record_store.h"

namespace argosy::data {
namespace {

constexpr size_t value_bytes(SlotType type) { return type == SlotType::float32 ? sizeof(float) : sizeof(int64_t); }

size_t varint_size(uint64_t number) {
  size_t size = 1;
  for (; number >= 0x80; number >>= 7) ++size;
  return size;
}

char* write_varint(uint64_t number, char* out) {
  for (; number >= 0x80; number >>= 7) *out++ = static_cast<char>(number | 0x80);
  *out++ = static_cast<char>(number);
  return out;
}

const char* read_varint(const char* at, uint64_t& number) {
  number = static_cast<unsigned char>(*at) & 0x7f;
  for (int shift = 7; (*at++ & 0x80) != 0; shift += 7) number |= static_cast<uint64_t>(*at & 0x7f) << shift;
  return at;
}

// The same for bytes of unknown origin; false where they end inside the number or it is longer than five bytes.
bool take_varint(std::string_view& bytes, uint64_t& number) {
  number = 0;
  for (size_t i = 0; i < std::min<size_t>(bytes.size(), 5); ++i) {
    number |= static_cast<uint64_t>(bytes[i] & 0x7f) << (7 * i);
    if ((bytes[i] & 0x80) != 0) continue;
    bytes.remove_prefix(i + 1);
    return true;
  }
  return false;
}

struct Piece {
  const char* values;
  size_t count;
};

Piece piece(const Column& column, int64_t sample) {
  const auto offsets = column.offsets();
  const int64_t begin = column.dense() ? sample * column.width() : offsets[static_cast<size_t>(sample)];
  const int64_t end = column.dense() ? begin + column.width() : offsets[static_cast<size_t>(sample) + 1];
  const char* values = column.type() == SlotType::float32 ? reinterpret_cast<const char*>(column.floats() + begin)
                                                          : reinterpret_cast<const char*>(column.ints() + begin);
  return {values, static_cast<size_t>(end - begin)};
}

template <typename T>
const char* read_values(const char* at, int64_t count, Column& column) {
  if (count > 0) std::memcpy(column.room<T>(count), at, static_cast<size_t>(count) * sizeof(T));  // an empty column has no room
  column.add_sample(count);
  return at + static_cast<size_t>(count) * sizeof(T);
}

}  // namespace

size_t RecordCodec::size(const Batch& batch, int64_t sample) const {
  size_t size = 0;
  for (const Column& column : batch.columns) {
    const size_t count = piece(column, sample).count;
    size += count * value_bytes(column.type()) + (column.dense() ? 0 : varint_size(count));
  }
  return size;
}

char* RecordCodec::write(const Batch& batch, int64_t sample, char* out) const {
  for (const Column& column : batch.columns) {
    const auto [values, count] = piece(column, sample);
    if (!column.dense()) out = write_varint(count, out);
    std::memcpy(out, values, count * value_bytes(column.type()));
    out += count * value_bytes(column.type());
  }
  return out;
}

void RecordCodec::read(const char* record, Batch& batch) const {
  for (size_t i = 0; i < slots_.size(); ++i) {
    Column& column = batch.columns[i];
    auto count = static_cast<uint64_t>(slots_[i].width);
    if (!slots_[i].dense) record = read_varint(record, count);
    const auto values = static_cast<int64_t>(count);
    record = slots_[i].type == SlotType::float32 ? read_values<float>(record, values, column)
                                                 : read_values<int64_t>(record, values, column);
  }
  ++batch.size;
}

bool RecordCodec::is_record(std::string_view bytes) const {
  for (const SlotSpec& slot : slots_) {
    auto count = static_cast<uint64_t>(slot.width);
    if (!slot.dense && !take_varint(bytes, count)) return false;
    if (count > bytes.size() / value_bytes(slot.type)) return false;
    bytes.remove_prefix(count * value_bytes(slot.type));
  }
  return bytes.empty();
}

uint64_t RecordCodec::fingerprint() const {
  uint64_t print = mix64(slots_.size());
  for (const SlotSpec& slot : slots_) {
    print = mix64(print ^ static_cast<uint64_t>(slot.type == SlotType::float32));
    print = mix64(print ^ static_cast<uint64_t>(slot.dense ? slot.width : 0));
  }
  return print;
}

}  // namespace argosy::data
