#include "argosy/ps/spec/packed.h"

#include "argosy/ps/spec/wire_format.h"

namespace argosy::ps {
namespace {

using PackedSections = google::protobuf::RepeatedPtrField<wire::Section>;

// A section takes a byte of a message for each of its count at least, so that no product of sizes overflows afterwards.
Status check_count(const wire::Section& section, size_t bytes) {
  if (section.count() <= bytes) return {};
  return Status::invalid_argument("a packed section of table {} has {} entries in a payload of {} bytes", section.table(),
                                  section.count(), bytes);
}

Status check_sizes(uint64_t expected, size_t found, uint64_t unpacked, uint64_t most) {
  if (expected != found) {
    return Status::invalid_argument(
        "a packed payload has {} bytes; its sections say {}: do worker and server have the same wire_format?", found, expected);
  }
  if (unpacked <= most) return {};
  return Status::resource_exhausted("a packed message has {} bytes when it is unpacked; expected at most {}", unpacked, most);
}

size_t statistics_bytes(const wire::Section& section) { return section.statistics() ? section.count() * 2 * sizeof(float) : 0; }

// What the sections of a push take, packed and plain.
struct Sizes {
  uint64_t packed = 0, plain = 0;
};

Result<Sizes> sizes_of(const JobSpec& spec, const PackedSections& sections, size_t bytes) {
  Sizes sizes;
  for (const wire::Section& section : sections) {
    if (section.table() >= spec.tables.size())
      return Status::invalid_argument("there is no table {}; the job has {}", section.table(), spec.tables.size());
    RETURN_IF_ERROR(check_count(section, bytes));
    const TableSpec& table = spec.tables[section.table()];
    const uint64_t numbers = numbers_of(table, section.count());
    if (table.sparse) {
      sizes.packed += key_bytes(section.count(), section.short_keys()) + statistics_bytes(section);
      sizes.plain += key_bytes(section.count(), false) + statistics_bytes(section);
    }
    sizes.packed += wire_bytes(table.wire_format, numbers, block_of(table));
    sizes.plain += numbers * sizeof(float);
    if (sizes.packed > bytes) break;  // before sums could grow too large; the sizes differ
  }
  return sizes;
}

// Reads the payload of a push from the front, and writes it plainly.
class Unpacking {
 public:
  Unpacking(const std::byte* from, std::byte* to) : from_(from), to_(to) {}

  void keys(const wire::Section& section) {
    const std::span keys(reinterpret_cast<uint64_t*>(to_), section.count());
    read_keys(from_, section.short_keys(), keys);
    move(key_bytes(section.count(), section.short_keys()), keys.size_bytes());
  }
  void numbers(WireFormat format, uint64_t count, size_t block) {
    const std::span numbers(reinterpret_cast<float*>(to_), count);
    read_from_wire(format, from_, block, numbers);
    move(wire_bytes(format, count, block), numbers.size_bytes());
  }

 private:
  void move(size_t read, size_t written) {
    from_ += read;
    to_ += written;
  }

  const std::byte* from_;
  std::byte* to_;
};

// Reads the plain payload of a push from the front, and writes it packed. The payload of a record is aligned for its keys.
class Packing {
 public:
  Packing(const std::byte* from, std::vector<std::byte>& to) : from_(from), to_(to) {}

  void keys(wire::Section& section) {
    const std::span keys(reinterpret_cast<const uint64_t*>(from_), section.count());
    section.set_short_keys(are_short(keys));
    write_keys(keys, section.short_keys(), room(key_bytes(keys.size(), section.short_keys())));
    from_ += keys.size_bytes();
  }
  void numbers(WireFormat format, uint64_t count, size_t block) {
    const std::span numbers(reinterpret_cast<const float*>(from_), count);
    round_to_wire(format, numbers, block, room(wire_bytes(format, count, block)));
    from_ += numbers.size_bytes();
  }

 private:
  std::byte* room(size_t bytes) {
    to_.resize(to_.size() + bytes);
    return to_.data() + to_.size() - bytes;
  }

  const std::byte* from_;
  std::vector<std::byte>& to_;
};

}  // namespace

Result<UnpackedPush> unpack_push(const JobSpec& spec, const wire::PushRequest& push, std::span<const std::byte> payload,
                                 uint64_t most_bytes) {
  ASSIGN_OR_RETURN(const Sizes sizes, sizes_of(spec, push.sections(), payload.size()));
  RETURN_IF_ERROR(check_sizes(sizes.packed, payload.size(), sizes.plain, most_bytes));
  UnpackedPush plain{.payload = std::make_shared_for_overwrite<uint64_t[]>(sizes.plain / sizeof(uint64_t) + 1),
                     .payload_bytes = sizes.plain};
  Unpacking unpacking(payload.data(), reinterpret_cast<std::byte*>(plain.payload.get()));
  wire::PushRequest header = push;
  header.clear_packed();
  for (wire::Section& section : *header.mutable_sections()) {
    if (spec.tables[section.table()].sparse) unpacking.keys(section);
    section.clear_short_keys();
  }
  for (const wire::Section& section : push.sections()) {
    const TableSpec& table = spec.tables[section.table()];
    unpacking.numbers(table.wire_format, numbers_of(table, section.count()), block_of(table));
    if (table.sparse) unpacking.numbers(WireFormat::float32, statistics_bytes(section) / sizeof(float), 1);
  }
  plain.header = header.SerializeAsString();
  return plain;
}

JobSpec in_wire_format(JobSpec spec, WireFormat format) {
  for (TableSpec& table : spec.tables) table.wire_format = format;
  return spec;
}

Result<PackedPush> pack_push(const JobSpec& spec, const wire::PushRequest& push, std::span<const std::byte> payload,
                             WireFormat format) {
  const JobSpec plain = in_wire_format(spec, WireFormat::float32);
  ASSIGN_OR_RETURN(const Sizes sizes, sizes_of(plain, push.sections(), payload.size()));
  RETURN_IF_ERROR(check_sizes(sizes.plain, payload.size(), sizes.plain, sizes.plain));
  wire::PushRequest header = push;
  header.set_packed(true);
  PackedPush packed;
  Packing packing(payload.data(), packed.payload);
  for (wire::Section& section : *header.mutable_sections()) {
    if (spec.tables[section.table()].sparse) packing.keys(section);
  }
  for (const wire::Section& section : push.sections()) {
    const TableSpec& table = spec.tables[section.table()];
    packing.numbers(format, numbers_of(table, section.count()), block_of(table));
    if (table.sparse) packing.numbers(WireFormat::float32, statistics_bytes(section) / sizeof(float), 1);
  }
  packed.header = header.SerializeAsString();
  return packed;
}

Result<std::vector<uint64_t>> unpack_keys(const PackedSections& sections, std::span<const std::byte> payload,
                                          uint64_t most_bytes) {
  uint64_t packed = 0, count = 0;
  for (const wire::Section& section : sections) {
    RETURN_IF_ERROR(check_count(section, payload.size()));
    packed += key_bytes(section.count(), section.short_keys());
    count += section.count();
    if (packed > payload.size()) break;
  }
  RETURN_IF_ERROR(check_sizes(packed, payload.size(), count * sizeof(uint64_t), most_bytes));
  std::vector<uint64_t> keys(count);
  size_t at = 0, from = 0;
  for (const wire::Section& section : sections) {
    read_keys(payload.data() + from, section.short_keys(), std::span(keys).subspan(at, section.count()));
    from += key_bytes(section.count(), section.short_keys());
    at += section.count();
  }
  return keys;
}

}  // namespace argosy::ps
