#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "argosy/ps/state/state_tables.h"

namespace argosy::ps {

// What one worker pushed for a sync step, and the memory that it lies in.
struct Contribution {
  uint32_t worker = 0;
  std::vector<TableGradient> gradients;  // ascending tables
  std::shared_ptr<const void> owner;
  std::string record;  // the push's header, for snapshots
  std::span<const std::byte> payload;
};

// The mean gradient of one sync step: every contribution added in the order of the workers, divided by their number, so
// that its bits depend neither on the order of arrival nor on timing. Shows and clicks are added up. Immutable but for
// scale(); thread-compatible.
class MergedStep {
 public:
  // REQUIRES: at least one contribution, in the order of workers. They must live as long as this.
  MergedStep(const Tables& tables, std::span<const Contribution* const> contributions);

  std::span<const TableGradient> gradients() const { return gradients_; }

  // The sum of squares of each clip group's tables here, in the order of JobSpec::clip_groups().
  std::vector<double> norms() const;

  // Limits every table that has a value_clip, and multiplies each group's tables by its factor.
  void clip(std::span<const float> factors);

 private:
  struct Storage {
    std::vector<uint64_t> keys;
    std::vector<float> values, shows, clicks;
  };

  void merge_dense(size_t table, std::span<const TableGradient* const> parts, float count);
  void merge_sparse(size_t table, std::span<const TableGradient* const> parts, float count);

  const Tables& tables_;
  std::vector<TableGradient> gradients_;  // over storage_
  std::vector<std::unique_ptr<Storage>> storage_;
};

}  // namespace argosy::ps
