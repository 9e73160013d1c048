#pragma once

#include <span>
#include <string>
#include <vector>

#include "argosy/data/line_parser.h"

namespace argosy::data {

// MultiSlot text: a line is a sample; for each slot in order it has `<n> v1 … vn`, separated by spaces. Names are not in
// the text, so an order that differs from the slots' shows only where counts or types differ.
//
// More than one space or a tab between words, and spaces or a carriage return at the line's end, are taken as well, as
// Paddle's reader does. A count of 0, a wrong count for a dense slot, a word that is no number of the slot's type, and
// anything left over make the line bad. Feature id 0 is a value like any other.
class MultiSlotParser : public LineParser {
 public:
  // REQUIRES: check_slots(slots) is ok.
  explicit MultiSlotParser(std::span<const SlotSpec> slots) : slots_(slots.begin(), slots.end()) {}

  const char* parse_line(const char* line, Batch& batch, LineError& error) const override;
  std::span<const SlotSpec> slots() const override { return slots_; }

 private:
  const char* parse_count(const char* at, const SlotSpec& slot, int64_t& count) const;
  const char* fail_count(const char* at, size_t slot, LineError& error) const;
  const char* fail_value(const char* at, size_t slot, int64_t value, int64_t count, LineError& error) const;

  std::vector<SlotSpec> slots_;
};

}  // namespace argosy::data
