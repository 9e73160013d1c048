#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "argosy/data/criteo_options.h"
#include "argosy/data/line_parser.h"

namespace argosy::data {

// One line of Criteo's text. A number that is missing from the line is marked so, which is not the same as 0.
struct CriteoSample {
  int64_t label = 0;
  std::array<double, kCriteoDense> numbers{};
  std::array<bool, kCriteoDense> missing{};
  std::array<int64_t, kCriteoCategories> ids{};
};

// The meaning of the fields under one scheme, for the parser and the text writer alike. Thread-safe after construction.
class CriteoDecoder {
 public:
  explicit CriteoDecoder(const CriteoOptions& options);

  // As LineParser::parse_line.
  const char* decode(const char* line, CriteoSample& sample, LineError& error) const;

  // The value of dense field `field`, 0 to 12: as MultiSlot text, and as the float that a reader of that text gets.
  void append_dense(const CriteoSample& sample, int field, std::string& out) const;
  float dense(const CriteoSample& sample, int field) const;

 private:
  bool read_number(const char*& at, double& number) const;
  const char* read_category(const char* at, int field, int64_t& id) const;
  double scaled(const CriteoSample& sample, int field) const;

  CriteoOptions options_;
  std::array<uint32_t, kCriteoCategories> prefix_crc_;  // of the text that goes before the field's own, not yet inverted
  std::vector<float> log_values_;                       // log1p scheme: the values of small numbers
};

}  // namespace argosy::data
