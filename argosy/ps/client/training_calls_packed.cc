// The packed messages of a job some of whose tables are rounded on the wire; see messages.proto.
#include "argosy/base/log.h"
#include "argosy/ps/client/reply.h"
#include "argosy/ps/client/store_relaxed.h"
#include "argosy/ps/client/training_calls.h"
#include "argosy/ps/spec/packed.h"

namespace argosy::ps {

void TrainingCalls::write_packed_keys(int server, size_t list, std::span<const uint64_t> keys, Scratch& scratch,
                                      wire::Section& section, PayloadWriter& payload) {
  const bool is_short = are_short(keys);
  section.set_short_keys(is_short);
  scratch.keys.resize(scratch.split.count(server, list));
  scratch.split.copy_keys(server, list, keys, scratch.keys.data());
  write_keys(scratch.keys, is_short, payload.room<std::byte>(key_bytes(scratch.keys.size(), is_short)));
}

std::vector<rpc::Slice> TrainingCalls::packed_payload(int server, std::span<const PushPart> parts, Scratch& scratch,
                                                      wire::PushRequest& header) {
  header.set_packed(true);
  size_t bytes = 0;
  for (int i = 0; i < header.sections_size(); ++i) {
    const wire::Section& section = header.sections(i);
    const TableSpec& table = job().tables[section.table()];
    bytes += wire_bytes(table.wire_format, numbers_of(table, section.count()), block_of(table));
    if (table.sparse) bytes += section.count() * (sizeof(uint64_t) + (section.statistics() ? 2 * sizeof(float) : 0));
  }
  PayloadWriter payload(bytes_, bytes);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].rows == nullptr) continue;
    write_packed_keys(server, parts[i].list, parts[i].rows->keys, scratch, *header.mutable_sections(static_cast<int>(i)),
                      payload);
  }
  for (const PushPart& part : parts) {
    if (part.rows != nullptr) {
      write_rounded_rows(server, part, scratch, payload);
      continue;
    }
    const Range range = dense_range(job(), static_cast<size_t>(part.table), servers().size(), server);
    const WireFormat format = job().tables[static_cast<size_t>(part.table)].wire_format;
    rounder_.round_dense(part.table, range.begin, part.dense->values.subspan(range.begin, range.size()),
                         payload.room<std::byte>(wire_bytes(format, range.size(), kWireBlock)));
  }
  return payload.finish();
}

void TrainingCalls::write_rounded_rows(int server, const PushPart& part, Scratch& scratch, PayloadWriter& payload) {
  const RowGradients& rows = *part.rows;
  const TableSpec& table = job().tables[static_cast<size_t>(part.table)];
  const size_t count = scratch.split.count(server, part.list);
  scratch.keys.resize(count);
  scratch.split.copy_keys(server, part.list, rows.keys, scratch.keys.data());
  std::span<const float> values(rows.values, count * table.width);
  if (servers().size() > 1) {
    scratch.floats.resize(values.size());
    scratch.split.gather(server, part.list, rows.values, table.width, scratch.floats.data());
    values = scratch.floats;
  }
  rounder_.round_rows(part.table, scratch.keys, values,
                      payload.room<std::byte>(wire_bytes(table.wire_format, values.size(), table.width)));
  if (part.has_statistics()) write_statistics(server, part, scratch.split, payload);
}

Status TrainingCalls::store_packed_rows(int server, std::span<const RowRequest> requests, Scratch& scratch,
                                        const rpc::Received& received) const {
  size_t offset = 0;
  for (size_t list = 0; list < requests.size(); ++list) {
    const TableSpec& table = job().tables[static_cast<size_t>(requests[list].table)];
    scratch.floats.resize(scratch.split.count(server, list) * table.width);
    const size_t bytes = wire_bytes(table.wire_format, scratch.floats.size(), table.width);
    if (bytes > received.payload.size() - offset) return wrong_payload_size(received, offset + bytes);
    read_from_wire(table.wire_format, received.payload.data() + offset, table.width, scratch.floats);
    scratch.split.scatter(server, list, scratch.floats.data(), table.width, requests[list].rows);
    offset += bytes;
  }
  return offset == received.payload.size() ? Status() : wrong_payload_size(received, offset);
}

Status TrainingCalls::store_packed_dense(int server, std::span<const DenseRequest> requests, const rpc::Received& received) {
  const auto scratch = scratch_.take();
  size_t offset = 0;
  for (const DenseRequest& request : requests) {
    const WireFormat format = job().tables[static_cast<size_t>(request.table)].wire_format;
    const Range range = dense_range(job(), static_cast<size_t>(request.table), servers().size(), server);
    const size_t bytes = wire_bytes(format, range.size(), kWireBlock);
    if (bytes > received.payload.size() - offset) return wrong_payload_size(received, offset + bytes);
    scratch->floats.resize(range.size());
    read_from_wire(format, received.payload.data() + offset, kWireBlock, scratch->floats);
    store_relaxed(scratch->floats, request.values.data() + range.begin);
    offset += bytes;
  }
  return offset == received.payload.size() ? Status() : wrong_payload_size(received, offset);
}

void TrainingCalls::warn_of_lost_residuals() const {
  log_warning(
      "worker {} was started before: what int8 rounding had left out of its earlier gradients is lost with that process; with "
      "wire_format=bfloat16 a restart loses nothing",
      session_.worker());
}

}  // namespace argosy::ps
