#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "argosy/ps/spec/packed.h"
#include "argosy/ps/state/state.h"

// Records of a log for a follower that has asked for rounded numbers: a push becomes a packed one, every other record stays.
namespace argosy::ps {

// What is sent in place of the record; nothing: the record itself. That is so of everything but pushes, and where rounding would
// save nothing.
std::optional<std::vector<std::byte>> round_record(const JobSpec& spec, std::span<const std::byte> record, WireFormat format);

// The push that such a record has, plain. `spec` has the tables in the format that was asked for.
Result<UnpackedPush> plain_record(const JobSpec& spec, const Record& packed);

}  // namespace argosy::ps
