#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/data/arrow_interface.h"

namespace argosy::data {

// A table in memory, as another library handed it over: a DataFrame, a table of Arrow's. Its memory stays that library's own;
// nothing is copied before batches are made. Thread-safe after construction.
class ArrowTable {
 public:
  // Takes all that the stream has, and releases it.
  static Result<std::shared_ptr<const ArrowTable>> read(ArrowArrayStream* stream);

  const ArrowSchema& schema() const { return *schema_; }
  size_t batches() const { return batches_.size(); }
  const ArrowArray& batch(size_t number) const { return *batches_[number]; }
  int64_t rows() const;

 private:
  ArrowOwned<ArrowSchema> schema_;
  std::vector<ArrowOwned<ArrowArray>> batches_;
};

}  // namespace argosy::data
