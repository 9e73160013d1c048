// Any bytes as lines of JSON: no crash, no overrun, and columns that hold together after good and bad lines alike.
#include <cstdint>
#include <cstring>
#include <string>

#include "argosy/base/check.h"
#include "argosy/data/json_lines.h"
#include "fuzz/parsed_batch.h"

using argosy::data::Batch;
using argosy::data::check_batch;
using argosy::data::JsonParser;
using argosy::data::kSlots;
using argosy::data::LineError;

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
