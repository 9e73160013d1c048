#include "argosy/ps/server/exports.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"

namespace argosy::ps {
namespace {

constexpr double kExportIdleSeconds = 60;
constexpr uint64_t kMaxExportBytes = uint64_t{64} << 20;

// The admitted rows of `records` as keys and values.
Status split_records(const table::RowCodec& codec, std::string_view records, std::vector<uint64_t>& keys,
                     std::vector<float>& values) {
  ASSIGN_OR_RETURN(const size_t count, codec.count(records));
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const auto row, codec.decode(records.substr(i * codec.record_bytes(), codec.record_bytes())));
    if (!row.admitted) continue;
    keys.push_back(row.key);
    values.insert(values.end(), row.value.begin(), row.value.end());
  }
  return {};
}

}  // namespace

struct Exports::Session {
  explicit Session(table::SparseTable::Export of, uint32_t table_number) : table(table_number), rows(std::move(of)) {}

  // The answer to request.number(): the piece that was read last, or the next.
  Result<Outgoing> piece(const table::SparseTable& from, uint64_t id, uint64_t wanted, uint64_t max_bytes);

  const uint32_t table;
  // What `asked` says, and false while a call uses the session.
  template <typename Question>
  bool if_unused(Question asked) ARGOSY_UNCHECKED_LOCKING {  // the question reads what the lock guards
    const std::unique_lock lock(mutex, std::try_to_lock);
    return lock.owns_lock() && asked(*this);
  }

  Mutex mutex;
  std::optional<table::SparseTable::Export> rows ARGOSY_GUARDED_BY(mutex);  // nothing after the last piece
  uint64_t number ARGOSY_GUARDED_BY(mutex) = 0;                             // of the piece in `header` and `payload`
  wire::ExportRowsReply header ARGOSY_GUARDED_BY(mutex);                    // empty before the first piece
  std::vector<rpc::Slice> payload ARGOSY_GUARDED_BY(mutex);
  Stopwatch idle ARGOSY_GUARDED_BY(mutex);

 private:
  Status read_next(const table::SparseTable& from, uint64_t id, uint64_t max_bytes) ARGOSY_REQUIRES(mutex);
};

Status Exports::Session::read_next(const table::SparseTable& from, uint64_t id, uint64_t max_bytes) {
  std::string records;
  ASSIGN_OR_RETURN(const bool more, rows->next(max_bytes, records));
  std::vector<uint64_t> keys;
  std::vector<float> values;
  RETURN_IF_ERROR(split_records(from.codec(), records, keys, values));
  if (!more) rows.reset();
  number = header.session() == 0 ? 0 : number + 1;
  header.set_session(id);
  header.set_count(keys.size());
  header.set_done(!more);
  payload = {rpc::Slice::own(std::move(keys)), rpc::Slice::own(std::move(values))};
  return {};
}

Result<Outgoing> Exports::Session::piece(const table::SparseTable& from, uint64_t id, uint64_t wanted, uint64_t max_bytes) {
  MutexLock lock(mutex);
  idle.restart();
  const bool again = wanted == number && header.session() != 0;
  const uint64_t next = header.session() == 0 ? 0 : number + 1;
  if (!again && (wanted != next || !rows)) {
    return Status::invalid_argument("piece {} of an export was asked for; the next is {}", wanted, next);
  }
  if (!again) RETURN_IF_ERROR(read_next(from, id, max_bytes));
  return outgoing(header, payload);
}

Exports::Exports(std::string name, Limit& exports, const Limit& answer)
    : name_(std::move(name)), limit_(exports), answer_(answer) {}

Exports::~Exports() = default;

Result<std::shared_ptr<Exports::Session>> Exports::find(const table::SparseTable& table, const wire::ExportRowsRequest& request,
                                                        uint64_t& id) {
  MutexLock lock(mutex_);
  id = request.session();
  if (id == 0) {
    RETURN_IF_ERROR(make_room());
    id = next_++;
    sessions_[id] = std::make_shared<Session>(table.begin_export(), request.table());
  }
  const auto known = sessions_.find(id);
  if (known != sessions_.end() && known->second->table == request.table()) return known->second;
  return Status::not_found(
      "{} has no export {} of table '{}': it was idle for too long, or this process is a new one; begin anew", name_, id,
      table.spec().name);
}

Result<Outgoing> Exports::piece(Tables& tables, const wire::ExportRowsRequest& request) {
  RETURN_IF_ERROR(tables.check_sparse(request.table()));
  const table::SparseTable& table = tables.sparse(request.table());
  uint64_t id = 0;
  ASSIGN_OR_RETURN(const auto session, find(table, request, id));
  // One record more than asked for may come.
  const uint64_t most = std::max<uint64_t>(std::min(kMaxExportBytes, answer_.most() / 2), 1);
  return session->piece(table, id, request.number(), std::clamp<uint64_t>(request.max_bytes(), 1, most));
}

// A finished session stays for a minute too, for a repeated call, unless others need its place.
Status Exports::make_room() {
  if (sessions_.size() >= limit_.most()) {
    const auto over = [](const auto& entry) {
      return entry.second->if_unused([](const Session& session) ARGOSY_UNCHECKED_LOCKING { return !session.rows; });
    };
    if (const auto oldest = std::ranges::find_if(sessions_, over); oldest != sessions_.end()) sessions_.erase(oldest);
  }
  limit_.set_now(sessions_.size());
  return sessions_.size() < limit_.most() ? Status() : limit_.refuse(1);
}

bool Exports::empty() const {
  const MutexLock lock(mutex_);
  return sessions_.empty();
}

void Exports::drop_idle() {
  MutexLock lock(mutex_);
  std::erase_if(sessions_, [](const auto& entry) {
    return entry.second->if_unused([](const Session& session)
                                       ARGOSY_UNCHECKED_LOCKING { return session.idle.seconds() > kExportIdleSeconds; });
  });
  limit_.set_now(sessions_.size());
}

}  // namespace argosy::ps
