#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/table/snapshot_format.h"

namespace argosy::table {

// Which part of a snapshot is meant, where not all of it: what one server wrote, for that server, started again among as many.
struct OneServer {
  uint32_t server = 0;
  uint32_t servers = 1;
};

// A snapshot that some number of servers wrote, and the ones that it builds on, for any number of servers to read: everyone
// sees all chunks and takes the keys that are its own. Damage, wherever it is, is `data_loss` and names the file, what was found
// and what was expected. Immutable, so safe to share between threads.
class Snapshot {
 public:
  // Looks at manifests, states and sizes; what is in the tables is checked as it is read. A part of a server that is missing,
  // parts of different snapshots in one folder, and a delta whose parent is missing or another one are `data_loss`; a folder that
  // is not there is `not_found`.
  static Result<Snapshot> open(const std::filesystem::path& folder, std::optional<OneServer> only = {});

  // Shows every chunk: those of the oldest snapshot of the chain first, so that later rows replace earlier ones, and erased keys
  // come after the rows that they erase. Chunks that come before damage have been shown when the error is found.
  Status read(const SnapshotVisitor& visitor) const;
  // Reads all of it for nothing but the checksums.
  Status verify() const;

  const std::filesystem::path& folder() const { return layers_.back().folder; }
  uint64_t id() const { return newest().front().manifest.info.id; }
  SnapshotKind kind() const { return newest().front().manifest.info.kind; }
  uint32_t servers() const { return newest().front().manifest.info.servers; }
  uint64_t step() const;  // the largest of any server

  // What the servers gave to commit(): one per server, in their order, or that of the one which was asked for.
  const std::vector<std::string>& states() const { return states_; }
  // By name, what the newest snapshot of the chain has.
  std::vector<SnapshotTable> tables() const;
  // Rows and elements that read() shows.
  uint64_t count() const;
  // Names of the folders that this one needs, itself last.
  std::vector<std::string> chain() const;

 private:
  struct ServerPart {
    std::filesystem::path folder;
    SnapshotManifest manifest;
  };
  struct Layer {
    std::filesystem::path folder;
    std::vector<ServerPart> parts;
  };
  static Result<Layer> open_layer(const std::filesystem::path& folder, std::optional<OneServer> only);
  const std::vector<ServerPart>& newest() const { return layers_.back().parts; }

  std::vector<Layer> layers_;  // oldest first
  std::vector<std::string> states_;
};

}  // namespace argosy::table
