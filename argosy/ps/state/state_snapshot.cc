#include "argosy/ps/state/state_snapshot.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace argosy::ps {
namespace {

using Chunk = table::SnapshotChunk;

constexpr size_t kRowChunkBytes = size_t{4} << 20;
constexpr size_t kKeysAtOnce = kRowChunkBytes / sizeof(uint64_t);
constexpr uint64_t kDensePiece = uint64_t{1} << 20;  // elements; copied under the table's lock

// The form of DenseTable::export_bytes, without its numbers.
struct DenseHead {
  uint64_t size = 0;
  uint64_t steps = 0;
  uint32_t initialised = 0;
  uint32_t element_states = 0;
  uint32_t scalars = 0;
  uint32_t zero = 0;
};
static_assert(sizeof(DenseHead) == 32);

Result<DenseHead> dense_head(std::string_view bytes) {
  DenseHead head;
  if (bytes.size() < sizeof(head)) return Status::data_loss("a piece of a dense table has {} bytes", bytes.size());
  std::memcpy(&head, bytes.data(), sizeof(head));
  const uint64_t floats = (bytes.size() - sizeof(head)) / sizeof(float);
  const bool fits = head.size <= floats && head.element_states <= optim::kMaxElementStates && head.scalars <= floats &&
                    head.scalars + head.size * (1 + head.element_states) == floats;
  if (!fits)
    return Status::data_loss("a piece of a dense table has {} bytes, which do not fit its {} elements", bytes.size(), head.size);
  return head;
}

// u64 steps · u64 scalars · f32 scalars[]
std::string progress_bytes(const table::TableProgress& progress) {
  const uint64_t head[] = {progress.steps, progress.scalars.size()};
  std::string bytes(reinterpret_cast<const char*>(head), sizeof(head));
  bytes.append(reinterpret_cast<const char*>(progress.scalars.data()), progress.scalars.size() * sizeof(float));
  return bytes;
}

Result<table::TableProgress> progress_from(std::string_view bytes) {
  uint64_t head[2] = {};
  if (bytes.size() >= sizeof(head)) std::memcpy(head, bytes.data(), sizeof(head));
  if (bytes.size() < sizeof(head) || (bytes.size() - sizeof(head)) / sizeof(float) != head[1]) {
    return Status::data_loss("the progress of a table has {} bytes", bytes.size());
  }
  table::TableProgress progress{head[0], std::vector<float>(head[1])};
  if (head[1] > 0) std::memcpy(progress.scalars.data(), bytes.data() + sizeof(head), head[1] * sizeof(float));
  return progress;
}

// What a delta says of one sparse table.
struct TableChanges {
  std::optional<uint64_t> since;  // rows with a gradient after this step; nothing: all rows
  std::vector<uint64_t> erased;   // before those rows, which may have come back
};

TableChanges changes_of(const wire::SavedRecord& saved, size_t table) {
  TableChanges changes;
  if (static_cast<size_t>(saved.steps_size()) > table) changes.since = saved.steps(static_cast<int>(table));
  for (const wire::Shrunk& shrunk : saved.shrunk()) {
    if (shrunk.table() != table) continue;
    changes.erased.insert(changes.erased.end(), shrunk.keys().begin(), shrunk.keys().end());
    if (shrunk.decayed()) changes.since.reset();
  }
  return changes;
}

// Collects what a server holds of one dense table from pieces that were cut elsewhere.
class DenseAssembly {
 public:
  Status add(std::string_view bytes, uint64_t offset, Range range) {
    ASSIGN_OR_RETURN(const DenseHead head, dense_head(bytes));
    const uint64_t begin = std::max(offset, range.begin), end = std::min(offset + head.size, range.end);
    if (begin >= end) return {};
    if (bytes_.empty()) {
      bytes_.resize(sizeof(DenseHead) + sizeof(float) * (head.scalars + range.size() * (1 + head.element_states)));
    } else if (head.element_states != head_.element_states || head.scalars != head_.scalars) {
      return Status::data_loss("its pieces have {} and {} states", head.element_states, head_.element_states);
    }
    // Steps and scalars are those of the newest layer, which comes last.
    head_ = head;
    head_.size = range.size();
    std::memcpy(bytes_.data(), &head_, sizeof(head_));
    std::memcpy(bytes_.data() + sizeof(head_), bytes.data() + sizeof(head), sizeof(float) * head.scalars);
    for (uint64_t state = 0; state <= head.element_states; ++state) {
      float* to = floats() + head.scalars + state * range.size() + (begin - range.begin);
      const char* from = bytes.data() + sizeof(head) + sizeof(float) * (head.scalars + state * head.size + (begin - offset));
      std::memcpy(to, from, (end - begin) * sizeof(float));
    }
    covered_ += end - begin;
    return {};
  }

  // REQUIRES: add() was called for every piece.
  Status put_into(table::DenseTable& table) const {
    if (covered_ < head_.size) return Status::data_loss("the snapshot has {} of its {} elements here", covered_, head_.size);
    return table.import_bytes(bytes_);
  }
  bool empty() const { return bytes_.empty(); }

 private:
  float* floats() { return reinterpret_cast<float*>(bytes_.data() + sizeof(DenseHead)); }

  DenseHead head_;
  std::string bytes_;
  uint64_t covered_ = 0;  // elements; those of a later layer again
};

// Takes the chunks of a snapshot into the tables.
class TableReader {
 public:
  TableReader(Tables& tables, const std::set<std::string, std::less<>>& only) : tables_(tables), only_(only) {
    for (size_t i = 0; i < tables.size(); ++i) places_[tables.spec().tables[i].name] = i;
  }

  Status take(const Chunk& chunk) {
    if (!asked_for(chunk.table)) return {};
    const auto place = places_.find(chunk.table);
    if (place == places_.end()) {
      unused_.emplace(chunk.table);
      return {};
    }
    Status status = take(chunk, place->second);
    return status.with_context("table '{}'", chunk.table);
  }

  Status finish() {
    for (const auto& [table, assembly] : dense_) {
      if (assembly.empty()) continue;
      RETURN_IF_ERROR(assembly.put_into(*tables_.dense(table)).with_context("table '{}'", tables_.spec().tables[table].name));
      rows_[table] = tables_.range(table).size();
    }
    return {};
  }

  // The tables that have got something.
  std::set<size_t> found() const {
    std::set<size_t> tables;
    for (const size_t table : seen_) {
      if (tables_.is_sparse(table) || rows_.contains(table)) tables.insert(table);
    }
    return tables;
  }

  std::vector<wire::TableReport> report() const {
    std::vector<wire::TableReport> reports;
    for (size_t i = 0; i < tables_.size(); ++i) {
      if (!asked_for(tables_.spec().tables[i].name)) continue;
      wire::TableReport& report = reports.emplace_back();
      report.set_table(tables_.spec().tables[i].name);
      report.set_missing(!seen_.contains(i));
      const auto rows = rows_.find(i);
      if (rows != rows_.end()) report.set_rows(rows->second);
    }
    for (const std::string& name : unused_) {
      reports.emplace_back().set_table(name);
      reports.back().set_unused(true);
    }
    return reports;
  }

 private:
  bool asked_for(std::string_view table) const { return only_.empty() || only_.contains(table); }

  Status take(const Chunk& chunk, size_t table) {
    const bool is_new = seen_.insert(table).second;
    if (tables_.is_sparse(table) != (chunk.kind != Chunk::Kind::dense)) {
      return Status::failed_precondition("it is {} in the snapshot and {} in this job",
                                         tables_.is_sparse(table) ? "dense" : "sparse",
                                         tables_.is_sparse(table) ? "sparse" : "dense");
    }
    if (chunk.kind == Chunk::Kind::dense) {
      if (tables_.dense(table) == nullptr) return {};
      return dense_[table].add(chunk.bytes, chunk.offset, tables_.range(table));
    }
    table::SparseTable& rows = tables_.sparse(table);
    if (is_new) RETURN_IF_ERROR(rows.clear());
    switch (chunk.kind) {
      case Chunk::Kind::progress: {
        ASSIGN_OR_RETURN(const table::TableProgress progress, progress_from(chunk.bytes));
        return rows.set_progress(progress);
      }
      case Chunk::Kind::rows: return take_rows(chunk, table, rows);
      case Chunk::Kind::erased: return erase_rows(chunk, rows);
      case Chunk::Kind::dense:
      case Chunk::Kind::state: break;  // above
    }
    return Status::internal("a chunk of kind {}", static_cast<int>(chunk.kind));
  }

  Status take_rows(const Chunk& chunk, size_t table, table::SparseTable& rows) {
    if (chunk.count == 0) return {};
    if (chunk.record_bytes() != rows.codec().record_bytes()) {
      return Status::failed_precondition("its rows have {} bytes in the snapshot and {} in this job: another width or rule",
                                         chunk.record_bytes(), rows.codec().record_bytes());
    }
    std::string mine;
    for (uint64_t i = 0; i < chunk.count; ++i) {
      if (server_of(chunk.key(i), tables_.servers()) != tables_.server()) continue;
      mine.append(chunk.bytes.substr(i * chunk.record_bytes(), chunk.record_bytes()));
    }
    rows_[table] += mine.size() / chunk.record_bytes();
    return rows.import_records(mine);
  }

  Status erase_rows(const Chunk& chunk, table::SparseTable& rows) {
    std::vector<uint64_t> mine;
    for (uint64_t i = 0; i < chunk.count; ++i) {
      if (server_of(chunk.key(i), tables_.servers()) == tables_.server()) mine.push_back(chunk.key(i));
    }
    return rows.erase(mine);
  }

  Tables& tables_;
  const std::set<std::string, std::less<>>& only_;
  std::map<std::string, size_t, std::less<>> places_;
  std::map<size_t, DenseAssembly> dense_;
  std::map<size_t, uint64_t> rows_;
  std::set<size_t> seen_;
  std::set<std::string, std::less<>> unused_;
};

}  // namespace

Result<TablesCut> TablesCut::begin(const Tables& tables, const wire::SavedRecord* saved) {
  TablesCut cut;
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables.is_sparse(i)) {
      TableChanges changes = saved == nullptr ? TableChanges() : changes_of(*saved, i);
      ASSIGN_OR_RETURN(auto rows, tables.sparse(i).begin_cut(changes.since));
      cut.entries_.push_back(std::make_unique<Entry>(Sparse{&tables.sparse(i), std::move(rows), std::move(changes.erased)}));
    } else if (tables.dense(i) != nullptr && tables.dense(i)->initialised()) {
      ASSIGN_OR_RETURN(auto elements, tables.dense(i)->begin_cut());
      cut.entries_.push_back(std::make_unique<Entry>(Dense{tables.dense(i), std::move(elements), tables.range(i)}));
    }
  }
  return cut;
}

uint64_t TablesCut::rows() const {
  uint64_t rows = 0;
  for (const auto& entry : entries_) {
    const auto* sparse = std::get_if<Sparse>(entry.get());
    rows += sparse != nullptr ? sparse->rows.rows() : std::get<Dense>(*entry).range.size();
  }
  return rows;
}

Result<WrittenTables> TablesCut::write_one(Sparse& sparse, table::SnapshotWriter& writer, const OnRows& on_rows) {
  WrittenTables written;
  const std::string& name = sparse.table->spec().name;
  const std::string progress = progress_bytes(sparse.rows.progress());
  RETURN_IF_ERROR(writer.add({Chunk::Kind::progress, name, 0, 0, progress}));
  for (size_t at = 0; at < sparse.erased.size(); at += kKeysAtOnce) {
    const auto keys = std::span(sparse.erased).subspan(at, std::min(kKeysAtOnce, sparse.erased.size() - at));
    const std::string_view bytes(reinterpret_cast<const char*>(keys.data()), keys.size_bytes());
    RETURN_IF_ERROR(writer.add({Chunk::Kind::erased, name, 0, keys.size(), bytes}));
    written.bytes += bytes.size();
  }
  std::string records;
  for (;;) {
    records.clear();
    ASSIGN_OR_RETURN(const bool more, sparse.rows.next(kRowChunkBytes, records));
    if (!more) return written;
    const uint64_t count = records.size() / sparse.table->codec().record_bytes();
    RETURN_IF_ERROR(writer.add({Chunk::Kind::rows, name, 0, count, records}));
    written.rows += count;
    written.bytes += records.size();
    RETURN_IF_ERROR(on_rows(count));
  }
}

Result<WrittenTables> TablesCut::write_one(Dense& dense, table::SnapshotWriter& writer, const OnRows& on_rows) {
  WrittenTables written;
  const Range range = dense.range;
  for (uint64_t begin = 0; begin < range.size(); begin += kDensePiece) {
    const uint64_t count = std::min(kDensePiece, range.size() - begin);
    const std::string piece = dense.elements.next(count);
    RETURN_IF_ERROR(writer.add({Chunk::Kind::dense, dense.table->spec().name, range.begin + begin, count, piece}));
    written.bytes += piece.size();
    RETURN_IF_ERROR(on_rows(count));
  }
  return written;
}

Result<WrittenTables> TablesCut::write(table::SnapshotWriter& writer, const OnRows& on_rows) {
  WrittenTables written;
  while (!entries_.empty()) {
    ASSIGN_OR_RETURN(const WrittenTables one,
                     std::visit([&](auto& entry) { return write_one(entry, writer, on_rows); }, *entries_.front()));
    entries_.pop_front();  // from now on changes of this table cost nothing more
    written.rows += one.rows;
    written.bytes += one.bytes;
  }
  return written;
}

Result<ReadTables> read_tables(const table::Snapshot& snapshot, Tables& tables, const ReadOptions& options) {
  return read_tables({&snapshot, 1}, tables, options);
}

Result<ReadTables> read_tables(std::span<const table::Snapshot> parts, Tables& tables, const ReadOptions& options) {
  TableReader reader(tables, options.only);
  const auto take = [&](const Chunk& chunk) -> Status {
    if (chunk.kind == Chunk::Kind::state) return options.state ? options.state(chunk.bytes) : Status();
    RETURN_IF_ERROR(reader.take(chunk));
    const bool counts = chunk.kind == Chunk::Kind::rows || chunk.kind == Chunk::Kind::dense;
    return counts && options.on_rows ? options.on_rows(chunk.count) : Status();
  };
  for (const table::Snapshot& part : parts) RETURN_IF_ERROR(part.read(take));
  RETURN_IF_ERROR(reader.finish());
  return ReadTables{reader.report(), reader.found()};
}

}  // namespace argosy::ps
