#include "argosy/inspect/snapshots.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "argosy/base/counted.h"
#include "argosy/base/text.h"
#include "argosy/table/snapshot_store.h"

namespace argosy::inspect {
namespace fs = std::filesystem;
namespace {

using table::SnapshotChunk;

// "server-0-of-2", the folder of a server's part.
std::optional<table::OneServer> part_named(const std::string& name) {
  constexpr std::string_view kServer = "server-", kOf = "-of-";
  const size_t of = name.find(kOf);
  if (!name.starts_with(kServer) || of == std::string::npos) return std::nullopt;
  const auto server = parse_integer(std::string_view(name).substr(kServer.size(), of - kServer.size()));
  const auto servers = parse_integer(std::string_view(name).substr(of + kOf.size()));
  if (!server || !servers || *server < 0 || *server >= *servers) return std::nullopt;
  return table::OneServer{static_cast<uint32_t>(*server), static_cast<uint32_t>(*servers)};
}

std::vector<table::OneServer> parts_in(const fs::path& folder) {
  std::vector<table::OneServer> parts;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (const auto part = part_named(entry->path().filename().string())) parts.push_back(*part);
  }
  return parts;
}

// What a snapshot's tables hold, by what tells contents apart: memory is a few words per row.
struct Contents {
  struct Table {
    std::string elements;     // of a dense table
    size_t element_size = 0;  // 0: a sparse one
    std::unordered_map<uint64_t, size_t> rows;  // a hash of what is kept of each
  };
  std::map<std::string, Table, std::less<>> tables;

  void take(const SnapshotChunk& chunk) {
    if (chunk.count == 0 || chunk.kind == SnapshotChunk::Kind::progress || chunk.kind == SnapshotChunk::Kind::state) return;
    Table& table = tables[std::string(chunk.table)];
    const size_t size = chunk.record_bytes();
    if (chunk.kind == SnapshotChunk::Kind::dense) {
      table.element_size = size;
      const size_t begin = chunk.offset * size;
      table.elements.resize(std::max(table.elements.size(), begin + chunk.bytes.size()));
      chunk.bytes.copy(table.elements.data() + begin, chunk.bytes.size());
    }
    for (uint64_t i = 0; chunk.kind == SnapshotChunk::Kind::rows && i < chunk.count; ++i)
      table.rows[chunk.key(i)] = std::hash<std::string_view>()(chunk.bytes.substr(i * size, size));
    for (uint64_t i = 0; chunk.kind == SnapshotChunk::Kind::erased && i < chunk.count; ++i) table.rows.erase(chunk.key(i));
  }
};

Result<Contents> contents_of(const table::Snapshot& snapshot) {
  Contents contents;
  RETURN_IF_ERROR(snapshot.read([&contents](const SnapshotChunk& chunk) -> Status { return contents.take(chunk), Status(); }));
  return contents;
}

std::string dense_difference(const Contents::Table& a, const Contents::Table& b) {
  if (a.element_size != b.element_size || a.elements.size() != b.elements.size())
    return fmt::format("{} elements against {}", a.elements.size() / a.element_size, b.elements.size() / b.element_size);
  uint64_t differ = 0, first = 0;
  for (size_t at = 0; at < a.elements.size(); at += a.element_size) {
    if (a.elements.compare(at, a.element_size, b.elements, at, a.element_size) == 0) continue;
    if (differ++ == 0) first = at / a.element_size;
  }
  if (differ == 0) return "";
  return fmt::format("{} of {} elements differ, the first is {}", with_thousands(static_cast<int64_t>(differ)),
                     with_thousands(static_cast<int64_t>(a.elements.size() / a.element_size)), first);
}

// Of the rows in `these` that `others` does not have, or has otherwise.
struct RowCount {
  int64_t alone = 0, differ = 0;
  uint64_t first = UINT64_MAX;  // the least key of those that differ
};

RowCount count_rows(const Contents::Table& these, const Contents::Table& others) {
  RowCount count;
  for (const auto& [key, hash] : these.rows) {
    const auto other = others.rows.find(key);
    if (other == others.rows.end()) ++count.alone;
    if (other == others.rows.end() || other->second == hash) continue;
    ++count.differ;
    count.first = std::min(count.first, key);
  }
  return count;
}

std::string row_difference(const Contents::Table& a, const Contents::Table& b) {
  const RowCount left = count_rows(a, b), right = count_rows(b, a);
  std::vector<std::string> parts;
  if (left.differ > 0)
    parts.push_back(fmt::format("{} of {} differ, the first has key {}", with_thousands(left.differ),
                                counted(a.rows.size() - static_cast<size_t>(left.alone), "common row"), left.first));
  if (left.alone > 0) parts.push_back(fmt::format("{} in A alone", counted(left.alone, "row")));
  if (right.alone > 0) parts.push_back(fmt::format("{} in B alone", counted(right.alone, "row")));
  return join(parts, "; ");
}

std::string table_difference(const Contents::Table& a, const Contents::Table& b) {
  if ((a.element_size == 0) != (b.element_size == 0)) return "one is dense, the other sparse";
  return a.element_size != 0 ? dense_difference(a, b) : row_difference(a, b);
}

std::vector<std::string> differences(const Contents& a, const Contents& b) {
  std::vector<std::string> lines;
  for (const auto& [name, table] : a.tables) {
    const auto other = b.tables.find(name);
    const std::string difference = other == b.tables.end() ? "is in A alone" : table_difference(table, other->second);
    if (!difference.empty()) lines.push_back(fmt::format("'{}': {}", name, difference));
  }
  for (const auto& [name, table] : b.tables)
    if (!a.tables.contains(name)) lines.push_back(fmt::format("'{}': is in B alone", name));
  return lines;
}

}  // namespace

Result<std::optional<table::Snapshot>> find_snapshot(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::optional<table::Snapshot>();
  const fs::path folder = path.has_filename() ? path : path.parent_path();  // without a slash at the end
  const auto own = part_named(fs::absolute(folder, error).lexically_normal().filename().string());
  const auto parts = own ? std::vector{*own} : parts_in(folder);
  if (parts.empty()) return std::optional<table::Snapshot>();
  const std::optional<table::OneServer> only = parts.size() == 1 ? std::optional(parts[0]) : std::nullopt;
  ASSIGN_OR_RETURN(auto snapshot, table::Snapshot::open(own ? fs::absolute(folder, error).parent_path() : folder, only));
  return std::optional(std::move(snapshot));
}

Result<std::optional<Difference>> compare_snapshots(const fs::path& a, const fs::path& b) {
  ASSIGN_OR_RETURN(const auto left, find_snapshot(a));
  ASSIGN_OR_RETURN(const auto right, find_snapshot(b));
  if (!left && !right) return std::optional<Difference>();
  if (!left || !right) {
    return Status::invalid_argument("'{}' is a snapshot of servers, and '{}' is none; two of a kind can be compared",
                                    (left ? a : b).string(), (left ? b : a).string());
  }
  ASSIGN_OR_RETURN(const Contents one, contents_of(*left));
  ASSIGN_OR_RETURN(const Contents other, contents_of(*right));
  const std::vector<std::string> lines = differences(one, other);
  const std::string steps =
      left->step() == right->step() ? "" : fmt::format(", of step {} and of step {}", left->step(), right->step());
  if (!lines.empty()) return std::optional(Difference{.equal = false, .text = join(lines, "\n") + "\n"});
  return std::optional(
      Difference{.equal = true, .text = fmt::format("equal: {}{}\n", counted(one.tables.size(), "table"), steps)});
}

}  // namespace argosy::inspect
