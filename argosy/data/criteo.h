#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "argosy/data/criteo_options.h"
#include "argosy/data/line_parser.h"

namespace argosy::data {

class CriteoDecoder;

// Criteo's display-ads text: label, 13 numbers, 26 categories, separated by tabs; a field may be empty. It fills the slots
// "dense_input" (13 floats), "C1".."C26" (one id each) and "label", in whatever order the dataset has them, with the very
// values that the MultiSlot text of criteo_to_multislot() would give. Fields after the 40th are ignored.
class CriteoParser : public LineParser {
 public:
  // Refuses a slot that is none of those, or of another type or width, and a hash_dim that is not positive.
  static Result<std::unique_ptr<CriteoParser>> make(std::span<const SlotSpec> slots, const CriteoOptions& options);
  ~CriteoParser() override;

  const char* parse_line(const char* line, Batch& batch, LineError& error) const override;
  std::span<const SlotSpec> slots() const override { return slots_; }

 private:
  CriteoParser(std::span<const SlotSpec> slots, std::vector<int> sources, const CriteoOptions& options);

  std::vector<SlotSpec> slots_;
  std::vector<int> sources_;  // what fills each slot
  std::unique_ptr<CriteoDecoder> decoder_;
};

Status check_criteo(const CriteoOptions& options);

// The slots in the order in which the MultiSlot text has them: dense_input, C1..C26, label.
std::vector<SlotSpec> criteo_slots();

// Copies Criteo text to MultiSlot text until the input ends: what a pipe command does. Errors name line and column; the first
// max_bad_lines of them are logged and the lines left out.
Status criteo_to_multislot(int in_fd, int out_fd, const CriteoOptions& options, int64_t max_bad_lines = 0);

}  // namespace argosy::data
