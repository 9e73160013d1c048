#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "argosy/ps/server/server_call.h"
#include "argosy/ps/server/server_options.h"
#include "argosy/table/snapshot_format.h"

namespace argosy::ps {

// The number of the newest snapshot for recovery that is whole, as far as its manifest says; 0: there is none.
Result<uint64_t> newest_snapshot(const ServerOptions& options);

// Gives the files of the newest snapshot for recovery to followers (messages.proto: CopySnapshot). Nothing is kept between two
// calls: a snapshot that is removed meanwhile is not_found, and the follower takes the one that came after it. What it copies has
// its own checksums, which the follower compares.
//
// Thread-safe.
class SnapshotFeed {
 public:
  // `name`: of the server. `answer` limits how large an answer is.
  SnapshotFeed(const ServerOptions& options, std::string name, const Limit& answer)
      : options_(options), name_(std::move(name)), answer_(answer) {}

  void copy(const CallPtr& call, State& state, const wire::CopySnapshotRequest& request);

 private:
  Result<wire::CopySnapshotReply> newest() const;
  Result<std::vector<std::byte>> bytes(const wire::CopySnapshotRequest& request) const;

  const ServerOptions& options_;
  const std::string name_;
  const Limit& answer_;
};

}  // namespace argosy::ps
