#include "argosy/data/arrow_table.h"

#include <string>
#include <string_view>

namespace argosy::data {
namespace {

Status stream_error(ArrowArrayStream* stream, const char* what) {
  const char* reason = stream->get_last_error(stream);
  return Status::invalid_argument("the table's {} could not be read: {}", what,
                                  reason == nullptr ? "no reason was given" : reason);
}

}  // namespace

Result<std::shared_ptr<const ArrowTable>> ArrowTable::read(ArrowArrayStream* stream) {
  ArrowOwned<ArrowArrayStream> source = ArrowOwned<ArrowArrayStream>::take(stream);
  if (!source.holds()) return Status::invalid_argument("the stream of a table was read before, or released");
  auto table = std::make_shared<ArrowTable>();
  if (source->get_schema(source.get(), table->schema_.fill()) != 0) return stream_error(source.get(), "schema");
  if (std::string_view(table->schema_->format) != "+s")
    return Status::invalid_argument("a dataset takes a table of columns; found one column of Arrow's format '{}'",
                                    table->schema_->format);
  for (;;) {
    ArrowOwned<ArrowArray> rows;
    if (source->get_next(source.get(), rows.fill()) != 0) return stream_error(source.get(), "rows");
    if (!rows.holds()) break;
    if (rows->length > 0) table->batches_.push_back(std::move(rows));
  }
  return std::shared_ptr<const ArrowTable>(std::move(table));
}

int64_t ArrowTable::rows() const {
  int64_t rows = 0;
  for (const auto& batch : batches_) rows += batch->length;
  return rows;
}

}  // namespace argosy::data
