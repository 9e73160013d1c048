#include "argosy/data/arrow_messages.h"

#include <cstring>

#include "argosy/base/check.h"
#include "argosy/data/message_bytes.h"

namespace argosy::data {
namespace {

// The bytes of a stream's schema, with which it begins: a mark, a length, and so many bytes. Empty: of an older form, or damaged.
std::string schema_bytes(std::string_view stream) {
  constexpr size_t kPrefix = 8;
  uint32_t mark = 0, length = 0;
  if (stream.size() < kPrefix) return {};
  std::memcpy(&mark, stream.data(), sizeof(mark));
  std::memcpy(&length, stream.data() + sizeof(mark), sizeof(length));
  if (mark != 0xFFFFFFFF || length > stream.size() - kPrefix) return {};
  return std::string(stream.substr(0, kPrefix + length));
}

}  // namespace

Result<std::unique_ptr<ArrowMessageParser>> ArrowMessageParser::make(std::span<const SlotSpec> slots,
                                                                     const ColumnOptions& options) {
  RETURN_IF_ERROR(check_slots(slots));
  RETURN_IF_ERROR(ArrowColumns::check_options(slots, options));
  ASSIGN_OR_RETURN(ColumnFiles * files, column_files());
  return std::unique_ptr<ArrowMessageParser>(new ArrowMessageParser(*files, slots, options));
}

ArrowMessageParser::ArrowMessageParser(ColumnFiles& files, std::span<const SlotSpec> slots, ColumnOptions options)
    : files_(files), slots_(slots.begin(), slots.end()), options_(std::move(options)) {}

const char* ArrowMessageParser::parse_line(const char* line, Batch& batch, LineError& error) const {
  const char* end = static_cast<const char*>(::rawmemchr(line, '\n'));
  if (const Status status = append({line, end}, batch); !status.ok()) {
    error = {.at = nullptr, .what = status.message()};
    return nullptr;
  }
  return end + 1;
}

Status ArrowMessageParser::append(std::string_view line, Batch& batch) const {
  std::string bytes;
  ARGOSY_CHECK(bytes_of_line(line, bytes), "a line of messages was read in another form than that of bytes");
  const std::string key = schema_bytes(bytes);
  ASSIGN_OR_RETURN(const RowBatches message, files_.read_stream(std::move(bytes)));
  ASSIGN_OR_RETURN(const Columns columns, columns_of(key, *message.schema));
  int64_t before = 0;
  for (const ArrowOwned<ArrowArray>& rows : message.rows) {
    RETURN_IF_ERROR(columns->check(*rows));
    if (const auto bad = columns->first_bad(*rows, 0, rows->length))
      return Status::invalid_argument("row {}: {}", before + bad->row, bad->what);
    before += rows->length;
  }
  for (const ArrowOwned<ArrowArray>& rows : message.rows) columns->append(*rows, 0, rows->length, batch);
  return {};
}

Result<ArrowMessageParser::Columns> ArrowMessageParser::columns_of(const std::string& key, const ArrowSchema& schema) const {
  if (!key.empty()) {
    MutexLock lock(mutex_);
    if (known_ != nullptr && known_key_ == key) return known_;
  }
  ASSIGN_OR_RETURN(Columns made, ArrowColumns::make(schema, ArrowColumns::Rows::whole, slots_, options_, "the message"));
  MutexLock lock(mutex_);
  known_key_ = key;
  known_ = made;
  return made;
}

}  // namespace argosy::data
