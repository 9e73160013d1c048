#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace argosy::graph {

// A block of the same program, by index: the value of attributes such as `sub_block`.
struct BlockRef {
  int32_t index = 0;
  friend bool operator==(const BlockRef&, const BlockRef&) = default;
};

// The value of an operator's attribute. The alternatives are those of Paddle's wire format.
using Attribute =
    std::variant<int32_t, float, std::string, std::vector<int32_t>, std::vector<float>, std::vector<std::string>, bool,
                 std::vector<bool>, BlockRef, int64_t, std::vector<BlockRef>, std::vector<int64_t>, double, std::vector<double>>;

using AttributeMap = std::map<std::string, Attribute, std::less<>>;

std::string attribute_to_string(const Attribute& value);   // as a program prints it
std::string_view attribute_kind(const Attribute& value);   // "int", "float", "ints", …

// `value` as the kind that `wanted` has, where it means the same there: a whole number for a float or for a wider or narrower
// one that holds it, a float for a double and back, an empty list for any list. False where it does not fit; `value` is then
// unchanged.
bool convert_attribute(Attribute& value, const Attribute& wanted);

}  // namespace argosy::graph
