#pragma once

#include <span>
#include <vector>

#include "argosy/ps/spec/packed.h"
#include "argosy/rpc/message.h"

namespace argosy::ps {

// The numbers of an answer to a pull: floats, or what the tables' wire formats make of them where the pull was packed.
// Thread-compatible.
class PackedAnswer {
 public:
  // REQUIRES: the sections name tables of the job, and an answer of so many floats is allowed.
  PackedAnswer(const JobSpec& spec, const google::protobuf::RepeatedPtrField<wire::Section>& sections, bool packed)
      : spec_(spec), packed_(packed), payload_(bytes_of(sections)), next_(payload_.data()) {}

  // The next section: `fill` writes the numbers of `count` rows or elements, and says whether that was possible.
  // REQUIRES: the sections of the constructor, in their order.
  template <typename Fill>
  Status add(size_t table, uint64_t count, const Fill& fill) {
    const TableSpec& spec = spec_.tables[table];
    const uint64_t numbers = numbers_of(spec, count);
    const size_t bytes = bytes_of(spec, count);
    if (!packed_) {
      RETURN_IF_ERROR(fill(std::span(reinterpret_cast<float*>(next_), numbers)));
    } else {
      exact_.resize(numbers);
      RETURN_IF_ERROR(fill(std::span(exact_)));
      round_to_wire(spec.wire_format, exact_, block_of(spec), next_);
    }
    next_ += bytes;
    return {};
  }

  rpc::Slice finish() { return rpc::Slice::own(std::move(payload_)); }

 private:
  size_t bytes_of(const TableSpec& table, uint64_t count) const {
    return wire_bytes(packed_ ? table.wire_format : WireFormat::float32, numbers_of(table, count), block_of(table));
  }
  size_t bytes_of(const google::protobuf::RepeatedPtrField<wire::Section>& sections) const {
    size_t bytes = 0;
    for (const wire::Section& section : sections) bytes += bytes_of(spec_.tables[section.table()], section.count());
    return bytes;
  }

  const JobSpec& spec_;
  const bool packed_;
  rpc::PayloadBuffer payload_;
  std::byte* next_;
  std::vector<float> exact_;  // of a section, before it is rounded
};

}  // namespace argosy::ps
