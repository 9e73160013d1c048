#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/data/column_options.h"
#include "argosy/data/line_parser.h"

namespace argosy::data {

// A JSON object a line: {"ids": [3, 7], "price": 0.5, "label": 1}. A slot takes the member of its name, a number, true or false
// (1, 0), or a list of these; other members, whatever they hold, are passed over. null, in a list as well, and a member that
// lacks are missing values: no value in a ragged slot, an error in a dense one, or in both what ColumnOptions::defaults says.
class JsonParser : public LineParser {
 public:
  // Refuses defaults that fit no slot, and columns by other names, which JSON has not.
  static Result<std::unique_ptr<JsonParser>> make(std::span<const SlotSpec> slots, const ColumnOptions& options);

  const char* parse_line(const char* line, Batch& batch, LineError& error) const override;
  std::span<const SlotSpec> slots() const override { return slots_; }

 private:
  struct Default {
    bool given = false;
    int64_t integer = 0;
    float real = 0;
  };

  struct Members {  // of a line, so far
    std::vector<bool> seen;
    size_t found = 0, guess = 0;  // how many slots; which one comes next, mostly
  };

  JsonParser(std::span<const SlotSpec> slots, std::vector<Default> defaults);
  int find(std::string_view name, size_t guess) const;  // -1: no slot
  const char* read_pair(const char* at, Members& members, Batch& batch, LineError& error) const;
  const char* read_member(const char* at, size_t slot, Batch& batch, LineError& error) const;
  template <typename T>
  const char* read_values(const char* at, size_t slot, Column& column, LineError& error) const;
  template <typename T>
  const char* read_one(const char* at, size_t slot, Column& column, int64_t& count, LineError& error) const;
  bool add_missing(size_t slot, Column& column) const;

  std::vector<SlotSpec> slots_;
  std::vector<Default> defaults_;
  std::map<std::string, int, std::less<>> by_name_;
};

}  // namespace argosy::data
