#include "argosy/ps/server/server_journal.h"

#include <array>
#include <cstring>

#include "argosy/base/counted.h"
#include "argosy/base/log.h"

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

RecordHead head_of(const Record& record) {
  return {static_cast<uint16_t>(record.method), kRecordVersion, record.seconds, static_cast<uint32_t>(record.header.size()), 0};
}

// What the record's bytes are, one after the other. REQUIRES: `head` outlives it, as does the record.
std::array<argosy::Bytes, 4> pieces_of(const Record& record, const RecordHead& head) {
  static constexpr std::array<std::byte, 8> kZeros = {};
  return {std::as_bytes(std::span(&head, 1)), std::as_bytes(std::span(record.header)),
          argosy::Bytes(kZeros).first(padded(record.header.size()) - record.header.size()), record.payload};
}

// Every request of a worker that is logged, but for its hello, has its caller in field 1.
std::string worker_of(const Record& record) {
  uint64_t worker = 0;
  if (record.method == wire::HELLO) {
    const auto hello = parse<wire::HelloRequest>(record);
    if (!hello.ok()) return "";
    worker = hello->worker();
  } else if (record.method == wire::WORKER_LOST) {
    const auto lost = parse<wire::WorkerLostRecord>(record);
    if (!lost.ok()) return "";
    worker = lost->worker();
  } else if (record.method == wire::SAVE_SNAPSHOT) {
    return "";
  } else {
    const auto request = parse<wire::HeartbeatRequest>(record);
    if (!request.ok() || !request->has_caller()) return "";
    worker = request->caller().worker();
  }
  return fmt::format(" of worker {}", worker);
}

}  // namespace

std::string describe(const Record& record) {
  const std::string name = wire::Method_IsValid(record.method) ? wire::Method_Name(record.method)
                                                               : fmt::format("method {}", static_cast<int>(record.method));
  std::string batch;
  if (record.method == wire::PUSH) {
    const auto push = parse<wire::PushRequest>(record);
    if (push.ok() && push->batches_size() > 0) {
      batch = fmt::format(", batch {} of round {}", index_of(push->batches(0)), round_of(push->batches(0)));
      if (push->batches_size() > 1) batch += fmt::format(" and {} more", push->batches_size() - 1);
    }
  }
  return name + worker_of(record) + batch;
}

std::vector<std::byte> encode_record(const Record& record) {
  std::vector<std::byte> bytes;
  const RecordHead head = head_of(record);
  for (const argosy::Bytes piece : pieces_of(record, head)) bytes.insert(bytes.end(), piece.begin(), piece.end());
  return bytes;
}

std::string set_aside_record(uint64_t bytes) {
  const RecordHead head{wire::SET_ASIDE, kRecordVersion, 0, 0, 0};
  std::string record(bytes, '\0');
  std::memcpy(record.data(), &head, sizeof(head));
  return record;
}

Result<Record> decode_record(argosy::Bytes bytes) {
  RecordHead head;
  if (bytes.size() < sizeof(head)) return Status::data_loss("a record of {} bytes is shorter than its head", bytes.size());
  std::memcpy(&head, bytes.data(), sizeof(head));
  if (head.version != kRecordVersion) {
    return Status::data_loss("a record has version {}; this program reads version {}", head.version, kRecordVersion);
  }
  const argosy::Bytes rest = bytes.subspan(sizeof(head));
  if (padded(head.header_bytes) > rest.size()) {
    return Status::data_loss("a record of {} bytes says that its header has {}", bytes.size(), head.header_bytes);
  }
  return Record{static_cast<wire::Method>(head.method),
                head.seconds,
                {reinterpret_cast<const char*>(rest.data()), head.header_bytes},
                rest.subspan(padded(head.header_bytes)),
                nullptr};
}

Result<std::unique_ptr<Journal>> Journal::open(const std::filesystem::path& folder, const table::LogOptions& options) {
  ASSIGN_OR_RETURN(auto log, table::RecordLog::open(folder, options));
  return std::unique_ptr<Journal>(new Journal(std::move(log)));
}

Status Journal::append(const Record& record) {
  const RecordHead head = head_of(record);
  const auto pieces = pieces_of(record, head);
  const auto position = log_->append(pieces);
  if (position.ok()) return {};
  if (position.status().code() == Code::failed_precondition) return position.status();
  return Status::unavailable("the log cannot be written, so nothing was done: {}", position.status().message());
}

Status Journal::replay(uint64_t from, const std::function<Status(const Record&)>& visit) const {
  uint64_t set_aside = 0;
  const Status status = log_->replay(from, [&](uint64_t position, argosy::Bytes bytes) -> Status {
    const auto record = decode_record(bytes);
    if (record.ok() && record->method == wire::SET_ASIDE) {
      ++set_aside;
      return {};
    }
    const Status visited = record.ok() ? visit(*record) : record.status();
    if (visited.ok()) return {};
    return visited.with_context("log file '{}', record at position {} ({}, {} bytes)", log_->file_of(position).string(), position,
                                record.ok() ? describe(*record) : "which cannot be read", bytes.size());
  });
  if (set_aside > 0) {
    log_warning("log {}: {} set aside by argosy repair, not applied", log_->folder().string(), counted(set_aside, "record"));
  }
  return status;
}

}  // namespace argosy::ps
