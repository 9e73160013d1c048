#pragma once

#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include <memory>
#include <string>

#include "argosy/data/object.h"

namespace argosy::parquet_module {

// What Arrow's readers read: the object, or the file of this machine where there is none.
arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> open_input(const std::string& path,
                                                                       std::shared_ptr<data::ObjectFile> object);

}  // namespace argosy::parquet_module
