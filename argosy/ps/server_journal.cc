#include "argosy/ps/server_journal.h"

#include <array>
#include <cstring>

namespace argosy::ps {
namespace {

constexpr uint16_t kRecordVersion = 1;

struct RecordHead {
  uint16_t method = 0;
  uint16_t version = 0;
  uint32_t seconds = 0;
  uint32_t header_bytes = 0;
  uint32_t zero = 0;
};
static_assert(sizeof(RecordHead) == 16);

size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

Result<Record> decode(Bytes bytes) {
  RecordHead head;
  if (bytes.size() < sizeof(head)) return Status::data_loss("a record of {} bytes is shorter than its head", bytes.size());
  std::memcpy(&head, bytes.data(), sizeof(head));
  if (head.version != kRecordVersion) {
    return Status::data_loss("a record has version {}; this program reads version {}", head.version, kRecordVersion);
  }
  const Bytes rest = bytes.subspan(sizeof(head));
  if (padded(head.header_bytes) > rest.size()) {
    return Status::data_loss("a record of {} bytes says that its header has {}", bytes.size(), head.header_bytes);
  }
  return Record{static_cast<wire::Method>(head.method),
                head.seconds,
                {reinterpret_cast<const char*>(rest.data()), head.header_bytes},
                rest.subspan(padded(head.header_bytes)),
                nullptr};
}

}  // namespace

Result<std::unique_ptr<Journal>> Journal::open(const std::filesystem::path& folder, const table::LogOptions& options) {
  ASSIGN_OR_RETURN(auto log, table::Log::open(folder, options));
  return std::unique_ptr<Journal>(new Journal(std::move(log)));
}

Status Journal::append(const Record& record) {
  static constexpr std::array<std::byte, 8> zeros = {};
  const RecordHead head{static_cast<uint16_t>(record.method), kRecordVersion, record.seconds,
                        static_cast<uint32_t>(record.header.size()), 0};
  const Bytes pieces[] = {std::as_bytes(std::span(&head, 1)), std::as_bytes(std::span(record.header)),
                          Bytes(zeros).first(padded(record.header.size()) - record.header.size()), record.payload};
  const auto position = log_->append(pieces);
  if (position.ok()) return {};
  if (position.status().code() == Code::failed_precondition) return position.status();
  return Status::unavailable("the log cannot be written, so nothing was done: {}", position.status().message());
}

Status Journal::replay(uint64_t from, const std::function<Status(const Record&)>& visit) const {
  return log_->replay(from, [&](uint64_t position, Bytes bytes) -> Status {
    const auto record = decode(bytes);
    const Status status = record.ok() ? visit(*record) : record.status();
    return status.with_context("log {}, record at {}", log_->folder().string(), position);
  });
}

}  // namespace argosy::ps
