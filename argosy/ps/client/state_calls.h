#pragma once

#include <span>
#include <vector>

#include "argosy/ps/client/session.h"

namespace argosy::ps {

// Single states of a table's rule: what a model that is saved by its variables has besides values. Client has the contracts.
//
// Thread-safe.
class StateCalls {
 public:
  explicit StateCalls(Session& session) : session_(session) {}

  Status pull_state(int table, size_t state, std::span<const uint64_t> keys, std::span<float> values);
  Status import_state(int table, size_t state, std::span<const uint64_t> keys, std::span<const float> values);

 private:
  // A server's part of one state of a table: some keys of a sparse one, or a range of a dense one.
  struct StatePart {
    int server = 0;
    std::vector<uint64_t> keys;
    std::vector<size_t> rows;  // where the keys stand in the caller's list
    Range range;               // of values, where there are no keys
  };

  Servers& servers() const { return session_.servers(); }
  const JobSpec& job() const { return session_.spec(); }
  Result<std::vector<StatePart>> state_parts(int table, std::span<const uint64_t> keys, size_t values) const;

  Session& session_;
};

}  // namespace argosy::ps
