#pragma once

#include <memory>
#include <string>

#include "argosy/data/column_file.h"

namespace argosy::parquet_module {

// A Parquet file, of this machine where there is no object. Blocks are decoded one by one, and what all files have in memory at a
// time is limited.
Result<std::unique_ptr<data::ColumnFile>> open_parquet(const std::string& path, std::shared_ptr<data::ObjectFile> object);

// A file of Arrow's IPC format: its record batches are the row groups.
Result<std::unique_ptr<data::ColumnFile>> open_arrow(const std::string& path, std::shared_ptr<data::ObjectFile> object);

// See data::ColumnFiles.
Result<data::RowBatches> read_stream(std::string bytes);

Result<std::unique_ptr<data::ColumnFileWriter>> create_parquet(const std::string& path, ArrowSchema* schema,
                                                               const data::ColumnWriteOptions& options);

}  // namespace argosy::parquet_module
