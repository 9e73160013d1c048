#include "argosy/table/snapshot.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <system_error>

#include "argosy/table/snapshot_part.h"
#include "argosy/table/snapshot_writer.h"

namespace argosy::table {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMaxChain = 1000;

// The n of a folder server-<i>-of-<n>.
std::optional<uint32_t> servers_in_name(std::string_view name) {
  const size_t of = name.find("-of-");
  if (!name.starts_with("server-") || of == std::string_view::npos) return std::nullopt;
  uint32_t servers = 0;
  const char* end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data() + of + 4, end, servers);
  return error == std::errc() && at == end && servers > 0 ? std::optional(servers) : std::nullopt;
}

// How many servers wrote the snapshot, by the names in its folder.
Result<uint32_t> count_servers(const fs::path& folder) {
  std::set<uint32_t> counts;
  std::error_code error;
  for (fs::directory_iterator entries(folder, error), end; !error && entries != end; entries.increment(error)) {
    if (const auto servers = servers_in_name(entries->path().filename().string())) counts.insert(*servers);
  }
  if (error == std::errc::no_such_file_or_directory) return Status::not_found("there is no snapshot '{}'", folder.string());
  if (error) return Status::unavailable("cannot read the snapshot folder '{}': {}", folder.string(), error.message());
  if (counts.empty()) return Status::data_loss("snapshot '{}' has no folder server-<i>-of-<n>", folder.string());
  if (counts.size() > 1) {
    return Status::data_loss("snapshot '{}' holds parts of {} servers and parts of {} servers; remove the older ones",
                             folder.string(), *counts.begin(), *counts.rbegin());
  }
  return *counts.begin();
}

}  // namespace

Result<Snapshot::Layer> Snapshot::open_layer(const fs::path& folder, std::optional<OneServer> only) {
  Layer layer{.folder = folder, .parts = {}};
  OneServer last{.server = 0, .servers = 1};
  if (only) {
    last = *only;
  } else {
    ASSIGN_OR_RETURN(last.servers, count_servers(folder));
    last.server = last.servers - 1;
  }
  for (uint32_t server = only ? only->server : 0; server <= last.server; ++server) {
    const fs::path path = server_folder(folder, server, last.servers);
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      const Code code = fs::exists(folder, error) ? Code::data_loss : Code::not_found;
      return Status(code, fmt::format("snapshot '{}' is incomplete: '{}' is missing", folder.string(), path.filename().string()));
    }
    ASSIGN_OR_RETURN(SnapshotManifest manifest, open_server_folder(path));
    if (manifest.info.server != server || manifest.info.servers != last.servers) {
      return Status::data_loss("snapshot manifest '{}' is of server {} of {}", (path / "manifest").string(), manifest.info.server,
                               manifest.info.servers);
    }
    const SnapshotInfo& first = layer.parts.empty() ? manifest.info : layer.parts.front().manifest.info;
    if (manifest.info.id != first.id || manifest.info.kind != first.kind || manifest.info.parent != first.parent) {
      return Status::data_loss(
          "'{}' is of the {} snapshot {:016x}, but server 0's part of the {} snapshot {:016x}; one of them is older",
          path.string(), kind_name(manifest.info.kind), manifest.info.id, kind_name(first.kind), first.id);
    }
    layer.parts.push_back({.folder = path, .manifest = std::move(manifest)});
  }
  return layer;
}

Result<Snapshot> Snapshot::open(const fs::path& folder, std::optional<OneServer> only) {
  Snapshot snapshot;
  std::vector<Layer> newest_first;
  ASSIGN_OR_RETURN(Layer newest, open_layer(folder, only));
  newest_first.push_back(std::move(newest));
  while (const auto& parent = newest_first.back().parts.front().manifest.info.parent) {
    const fs::path& child = newest_first.back().folder;
    auto layer = open_layer(folder_beside(child, parent->name), only);
    if (!layer.ok()) {
      return Status::data_loss("the delta snapshot '{}' builds on '{}', which cannot be read: {}", child.string(), parent->name,
                               layer.status().message());
    }
    if (const uint64_t id = layer->parts.front().manifest.info.id; id != parent->id) {
      return Status::data_loss("the delta snapshot '{}' builds on '{}' with id {:016x}, but there it has id {:016x}",
                               child.string(), parent->name, parent->id, id);
    }
    newest_first.push_back(std::move(*layer));
    if (newest_first.size() > kMaxChain)
      return Status::data_loss("snapshot '{}' builds on more than {} others, or on itself", folder.string(), kMaxChain);
  }
  for (const ServerPart& part : newest_first.front().parts) {
    ASSIGN_OR_RETURN(std::string state, read_state(part.folder, part.manifest));
    snapshot.states_.push_back(std::move(state));
  }
  snapshot.layers_.assign(std::make_move_iterator(newest_first.rbegin()), std::make_move_iterator(newest_first.rend()));
  return snapshot;
}

Status Snapshot::read(const SnapshotVisitor& visitor) const {
  for (const Layer& layer : layers_) {
    for (const ServerPart& server : layer.parts) {
      for (const SnapshotPart& part : server.manifest.parts) RETURN_IF_ERROR(read_part_file(server.folder, part, visitor));
    }
  }
  return {};
}

Status Snapshot::verify() const {
  return read([](const SnapshotChunk&) { return Status(); });
}

uint64_t Snapshot::step() const {
  uint64_t step = 0;
  for (const ServerPart& part : newest()) step = std::max(step, part.manifest.info.step);
  return step;
}

std::vector<SnapshotTable> Snapshot::tables() const {
  std::map<std::string, SnapshotTable> sums;
  for (const ServerPart& part : newest()) {
    for (const SnapshotTable& table : part.manifest.tables) {
      SnapshotTable& sum = sums[table.name];
      sum.name = table.name;
      sum.count += table.count;
      sum.bytes += table.bytes;
    }
  }
  std::vector<SnapshotTable> tables;
  tables.reserve(sums.size());
  for (auto& [name, table] : sums) tables.push_back(std::move(table));
  return tables;
}

uint64_t Snapshot::count() const {
  uint64_t count = 0;
  for (const Layer& layer : layers_) {
    for (const ServerPart& part : layer.parts) {
      for (const SnapshotTable& table : part.manifest.tables) count += table.count;
    }
  }
  return count;
}

std::vector<std::string> Snapshot::chain() const {
  std::vector<std::string> names;
  names.reserve(layers_.size());
  for (const Layer& layer : layers_) names.push_back((layer.folder / ".").lexically_normal().parent_path().filename().string());
  return names;
}

}  // namespace argosy::table
