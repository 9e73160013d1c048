#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/data/arrow_columns.h"
#include "argosy/data/column_file.h"
#include "argosy/data/line_parser.h"

namespace argosy::data {

// Messages of a log that are streams of Arrow's IPC format: a schema and record batches, whose columns fill the slots as those of
// a file do (ArrowColumns). A message is a line of bytes (message_bytes.h) with as many samples as it has rows. It is taken as a
// whole or, where a row of it is bad, not at all.
class ArrowMessageParser : public LineParser {
 public:
  // Opens the module that reads Arrow.
  static Result<std::unique_ptr<ArrowMessageParser>> make(std::span<const SlotSpec> slots, const ColumnOptions& options);

  const char* parse_line(const char* line, Batch& batch, LineError& error) const override;
  std::span<const SlotSpec> slots() const override { return slots_; }

 private:
  using Columns = std::shared_ptr<const ArrowColumns>;

  ArrowMessageParser(ColumnFiles& files, std::span<const SlotSpec> slots, ColumnOptions options);
  Status append(std::string_view line, Batch& batch) const;
  Result<Columns> columns_of(const std::string& key, const ArrowSchema& schema) const;

  ColumnFiles& files_;
  const std::vector<SlotSpec> slots_;
  const ColumnOptions options_;
  mutable Mutex mutex_;
  mutable std::string known_key_ ARGOSY_GUARDED_BY(mutex_);  // the last schema, as it stands in the messages: most have one
  mutable Columns known_ ARGOSY_GUARDED_BY(mutex_);
};

}  // namespace argosy::data
