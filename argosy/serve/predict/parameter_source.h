#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "argosy/base/status.h"

namespace argosy::serve {

// Parameters of a model that do not come from its files: tables of a job, at its servers, at followers of them, or where they are
// published. A predictor that is given one takes every parameter from it whose name it has, and the others from the files.
//
// Thread-safe.
class ParameterSource {
 public:
  virtual ~ParameterSource() = default;

  struct Table {
    std::string name;
    bool sparse = false;
    uint64_t size = 0;   // dense: elements
    uint32_t width = 0;  // sparse: floats per row
  };
  // The same for the life of the source.
  virtual const std::vector<Table>& tables() const = 0;

  // Both end by a deadline of the source's own; `unavailable` names who did not answer.
  // REQUIRES: rows.size() == keys.size() * width. A row that is not there is read as the value that it would begin with.
  virtual Status pull_rows(size_t table, std::span<const uint64_t> keys, std::span<float> rows) = 0;
  // REQUIRES: values.size() is the table's size.
  virtual Status pull_dense(size_t table, std::span<float> values) = 0;

  // One of the places that the values come from, as it stands.
  struct Origin {
    std::string address;
    uint64_t version = 0;  // grows with every change of the values
    uint64_t lag_records = 0;
    double lag_seconds = 0;
    std::string text;  // for people: whom it follows, and what it waits for

    friend bool operator==(const Origin&, const Origin&) = default;
  };
  virtual Result<std::vector<Origin>> origins() = 0;
};

}  // namespace argosy::serve
