// Any bytes as lines of JSON: no crash, no overrun, and columns that hold together after good and bad lines alike.
#include <cstdint>
#include <cstring>
#include <string>

#include "argosy/base/check.h"
#include "argosy/data/json_lines.h"

using argosy::data::Batch;
using argosy::data::Column;
using argosy::data::JsonParser;
using argosy::data::LineError;
using argosy::data::SlotSpec;
using argosy::data::SlotType;

namespace {

const std::vector<SlotSpec> kSlots = {{.name = "dense", .type = SlotType::float32, .dense = true, .width = 2},
                                      {.name = "ids", .type = SlotType::int64, .dense = false, .width = 1},
                                      {.name = "weights", .type = SlotType::float32, .dense = false, .width = 1},
                                      {.name = "label", .type = SlotType::int64, .dense = true, .width = 1}};

void check_batch(const Batch& batch) {
  for (const Column& column : batch.columns) {
    if (column.dense()) {
      ARGOSY_CHECK(column.count() == batch.size * column.width(), "a dense column has another number of values");
      continue;
    }
    ARGOSY_CHECK(static_cast<int64_t>(column.offsets().size()) == batch.size + 1,
                 "a ragged column has another number of samples");
    ARGOSY_CHECK(column.offsets().back() == column.count(), "the offsets end elsewhere");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto parser = JsonParser::make(kSlots, {});
  ARGOSY_CHECK(parser.ok(), parser.status().message());
  static Batch batch;
  std::string text(reinterpret_cast<const char*>(data), size);
  text += '\n';
  const size_t lines_end = text.size();
  text.append(argosy::data::kTextPadding, '1');

  batch.reset(kSlots);
  LineError error;
  for (const char* at = text.data(); at < text.data() + lines_end;) {
    const char* next = (*parser)->parse_line(at, batch, error);
    if (next == nullptr) {
      batch.drop_unfinished_sample();
      ARGOSY_CHECK(error.at >= at && error.at < text.data() + lines_end, "an error points outside of its line");
      next = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(text.data() + lines_end - at))) + 1;
    }
    at = next;
    check_batch(batch);
  }
  return 0;
}
