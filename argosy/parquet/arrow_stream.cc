#include <arrow/buffer.h>
#include <arrow/c/bridge.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <exception>
#include <new>

#include "argosy/parquet/parquet_file.h"

namespace argosy::parquet_module {
namespace {

Status damaged(std::string_view what) {
  return Status::data_loss("found no whole stream of Arrow's IPC format (a schema and record batches): {}", what);
}

Status of_stream(const arrow::Status& status) {
  if (status.ok()) return {};
  if (status.IsOutOfMemory())
    return Status::resource_exhausted("there is no memory for what the stream says it holds: {}", status.message());
  return damaged(status.message());
}

#define ARGOSY_STREAM_ASSIGN(result, declaration, expression) \
  auto result = (expression);                                 \
  if (!result.ok()) return of_stream(result.status());        \
  declaration = std::move(result).ValueUnsafe()

// Offsets and lengths of a damaged stream point anywhere: they are looked at before anybody follows them.
Result<data::RowBatches> read_all(std::string bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  const auto input = std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(std::move(bytes)));
  arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
  options.use_threads = false;
  ARGOSY_STREAM_ASSIGN(opened, const auto reader, arrow::ipc::RecordBatchStreamReader::Open(input, options));
  data::RowBatches all;
  RETURN_IF_ERROR(of_stream(arrow::ExportSchema(*reader->schema(), all.schema.fill())));
  for (std::shared_ptr<arrow::RecordBatch> batch;;) {
    RETURN_IF_ERROR(of_stream(reader->ReadNext(&batch)));
    if (batch == nullptr) break;
    RETURN_IF_ERROR(of_stream(batch->ValidateFull()));
    RETURN_IF_ERROR(of_stream(arrow::ExportRecordBatch(*batch, all.rows.emplace_back().fill())));
  }
  ARGOSY_STREAM_ASSIGN(told, const int64_t end, input->Tell());
  if (end != size) return damaged(fmt::format("{} bytes follow its end", size - end));
  return all;
}

}  // namespace

Result<data::RowBatches> read_stream(std::string bytes) {
  if (bytes.starts_with("ARROW1"))
    return damaged("it is of the IPC format of files, which has a footer; write messages as streams (pyarrow.ipc.new_stream)");
  try {
    return read_all(std::move(bytes));
  } catch (const std::bad_alloc&) {
    return Status::resource_exhausted("there is no memory for what the stream says it holds");
  } catch (const std::exception& error) {
    return damaged(error.what());
  }
}

}  // namespace argosy::parquet_module
