// Any bytes as a packed push or pull: no crash, nothing is made that the bytes do not justify, and what is taken for good is
// plain.
//
// An input is: u8 the formats of the two tables (bits 0-1 and 2-3), u8 number of sections, then for each u8 table (bits 0-1),
// short keys (2), statistics (3), a count from the next 8 bytes instead of the next one (4); then the payload.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "argosy/base/check.h"
#include "argosy/ps/spec/packed.h"

using namespace argosy;
using namespace argosy::ps;

namespace {

constexpr uint64_t kMost = uint64_t{1} << 20;

template <typename T>
T take(std::string_view& input) {
  T value{};
  const size_t size = std::min(sizeof value, input.size());
  if (size > 0) std::memcpy(&value, input.data(), size);
  input.remove_prefix(size);
  return value;
}

JobSpec job_of(uint8_t formats) {
  TableSpec rows{.name = "rows", .sparse = true}, dense{.name = "dense"};
  rows.width = 3;
  dense.size = 1000;
  rows.wire_format = static_cast<WireFormat>((formats & 3) % 3);
  dense.wire_format = static_cast<WireFormat>((formats >> 2 & 3) % 3);
  return {.tables = {rows, dense}};
}

void check(const JobSpec& spec, const wire::PushRequest& push, std::span<const std::byte> payload) {
  const auto keys = unpack_keys(push.sections(), payload, kMost);
  if (keys.ok()) ARGOSY_CHECK(keys->size() * sizeof(uint32_t) <= payload.size(), "keys from nothing");
  const auto plain = unpack_push(spec, push, payload, kMost);
  if (!plain.ok()) return;
  ARGOSY_CHECK(plain->payload_bytes <= std::min<uint64_t>(kMost, 4 * payload.size()), "numbers from nothing");
  wire::PushRequest header;
  ARGOSY_CHECK(header.ParseFromString(plain->header) && !header.packed(), "what is unpacked is packed");
  uint64_t bytes = 0;
  for (const wire::Section& section : header.sections()) {
    const TableSpec& table = spec.tables[section.table()];
    ARGOSY_CHECK(!section.short_keys(), "a plain push has short keys");
    bytes += numbers_of(table, section.count()) * sizeof(float);
    if (table.sparse) bytes += section.count() * (sizeof(uint64_t) + (section.statistics() ? 2 * sizeof(float) : 0));
  }
  ARGOSY_CHECK(bytes == plain->payload_bytes, "a plain push whose sections say another size");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const JobSpec spec = job_of(take<uint8_t>(input));
  wire::PushRequest push;
  push.set_packed(true);
  for (int left = take<uint8_t>(input) % 8; left > 0; --left) {
    const auto what = take<uint8_t>(input);
    wire::Section* section = push.add_sections();
    section->set_table(what & 3);
    section->set_short_keys((what & 4) != 0);
    section->set_statistics((what & 8) != 0);
    section->set_count((what & 16) != 0 ? take<uint64_t>(input) : take<uint8_t>(input));
  }
  check(spec, push, std::as_bytes(std::span(input)));
  return 0;
}
