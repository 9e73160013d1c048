#include "argosy/table/row_record.h"

#include <bit>
#include <cstring>

#include "argosy/base/check.h"
#include "argosy/table/spec.h"

namespace argosy::table {
namespace {

static_assert(std::endian::native == std::endian::little, "records are written as they stand in memory");

struct RowHead {
  uint64_t key;
  uint32_t flags;
  RowCounters counters;
};
static_assert(sizeof(RowCounters) == 20 && sizeof(RowHead) == RowCodec::kHeadBytes);
constexpr uint32_t kAdmitted = 1;

std::string_view bytes_of(std::span<const float> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

}  // namespace

void RowCodec::append(const RowView& row, std::string& out) const {
  const RowHead head{.key = row.key, .flags = row.admitted ? kAdmitted : 0, .counters = row.counters};
  out.append(reinterpret_cast<const char*>(&head), sizeof(head));
  if (!row.admitted) {
    out.append(record_bytes() - sizeof(head), '\0');
    return;
  }
  ARGOSY_CHECK(row.value.size() == width_ && row.states.size() == width_ * element_states_);
  out.append(bytes_of(row.value)).append(bytes_of(row.states));
}

Result<RowView> RowCodec::decode(std::string_view bytes) const {
  ARGOSY_CHECK(bytes.size() == record_bytes());
  RowHead head;
  std::memcpy(&head, bytes.data(), sizeof(head));
  if (head.flags > kAdmitted || head.counters.pushes > kMaxPushes) {
    return Status::data_loss(
        "the record of row {} has flags {:#x} and {} gradients; flags are 0 or 1, gradients at most {}: the bytes are damaged",
        head.key, head.flags, head.counters.pushes, kMaxPushes);
  }
  RowView row{.key = head.key, .admitted = head.flags == kAdmitted, .counters = head.counters};
  if (!row.admitted) return row;
  const auto* numbers = reinterpret_cast<const float*>(bytes.data() + sizeof(head));
  row.value = {numbers, width_};
  row.states = {numbers + width_, width_ * element_states_};
  return row;
}

Result<size_t> RowCodec::count(std::string_view bytes) const {
  if (bytes.size() % record_bytes() != 0) {
    return Status::data_loss("{} bytes are no whole number of records of {} bytes (width {}, {} states): some are missing",
                             bytes.size(), record_bytes(), width_, element_states_);
  }
  return bytes.size() / record_bytes();
}

}  // namespace argosy::table
