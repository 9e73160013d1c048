#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/ps/spec/job_spec.h"
#include "argosy/ps/spec/messages.pb.h"

// Packed messages as servers take them: with u64 keys and float32 numbers. Sizes are checked before memory is taken for them:
// what comes out is at most four times as large as what came in, and at most `most_bytes`.
namespace argosy::ps {

// A push without rounding: what is logged and applied.
struct UnpackedPush {
  std::string header = {};
  std::shared_ptr<uint64_t[]> payload;
  size_t payload_bytes = 0;

  std::span<const std::byte> bytes() const { return {reinterpret_cast<const std::byte*>(payload.get()), payload_bytes}; }
};
Result<UnpackedPush> unpack_push(const JobSpec& spec, const wire::PushRequest& push, std::span<const std::byte> payload,
                                 uint64_t most_bytes);

// The other way: what a plain push is where every number travels as `format` says. resource_exhausted and invalid_argument as
// above. REQUIRES: unpacked by unpack_push() with in_wire_format(spec, format).
struct PackedPush {
  std::string header;
  std::vector<std::byte> payload;
};
Result<PackedPush> pack_push(const JobSpec& spec, const wire::PushRequest& push, std::span<const std::byte> payload,
                             WireFormat format);
JobSpec in_wire_format(JobSpec spec, WireFormat format);

// The keys of a packed pull, section after section.
Result<std::vector<uint64_t>> unpack_keys(const google::protobuf::RepeatedPtrField<wire::Section>& sections,
                                          std::span<const std::byte> payload, uint64_t most_bytes);

// The numbers that a section of a table has, by its count, and those of a block.
inline uint64_t numbers_of(const TableSpec& table, uint64_t count) { return table.sparse ? count * table.width : count; }
inline size_t block_of(const TableSpec& table) { return table.sparse ? table.width : kWireBlock; }

}  // namespace argosy::ps
