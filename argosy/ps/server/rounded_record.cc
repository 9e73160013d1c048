#include "argosy/ps/server/rounded_record.h"

#include "argosy/ps/server/server_journal.h"

namespace argosy::ps {
namespace {

constexpr uint64_t kMostPlain = uint64_t{1} << 31;  // far more than a push may have

}  // namespace

std::optional<std::vector<std::byte>> round_record(const JobSpec& spec, std::span<const std::byte> record, WireFormat format) {
  if (format == WireFormat::float32) return std::nullopt;
  const auto plain = decode_record(record);
  if (!plain.ok() || plain->method != wire::PUSH) return std::nullopt;
  const auto push = parse<wire::PushRequest>(*plain);
  if (!push.ok()) return std::nullopt;
  const auto packed = pack_push(spec, *push, plain->payload, format);
  if (!packed.ok()) return std::nullopt;
  auto bytes = encode_record({wire::PUSH, plain->seconds, packed->header, packed->payload, nullptr});
  if (bytes.size() >= record.size()) return std::nullopt;
  return bytes;
}

Result<UnpackedPush> plain_record(const JobSpec& spec, const Record& packed) {
  ASSIGN_OR_RETURN(const auto push, parse<wire::PushRequest>(packed));
  if (packed.method != wire::PUSH || !push.packed()) return Status::data_loss("a record that was rounded is no packed push");
  return unpack_push(spec, push, packed.payload, kMostPlain);
}

}  // namespace argosy::ps
