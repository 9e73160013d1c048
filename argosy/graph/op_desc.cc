#include "argosy/graph/op_desc.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace argosy::graph {
namespace {

template <typename T>
constexpr bool kIsList = false;
template <typename T>
constexpr bool kIsList<std::vector<T>> = true;

std::string scalar_text(int32_t value) { return fmt::format("{}", value); }
std::string scalar_text(int64_t value) { return fmt::format("{}", value); }
// The shortest text that reads back as the same number, with a mark that it is not a whole one: 1.0, as in Python.
template <typename Float>
std::string float_text(Float value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string scalar_text(float value) { return float_text(value); }
std::string scalar_text(double value) { return float_text(value); }
std::string scalar_text(bool value) { return value ? "True" : "False"; }
std::string scalar_text(const std::string& value) { return fmt::format("\"{}\"", value); }
std::string scalar_text(BlockRef value) { return fmt::format("block[{}]", value.index); }

template <typename To, typename From>
bool holds(From value) {
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From> && !std::is_same_v<From, bool>)
    return std::in_range<To>(value);
  return true;
}

template <typename To, typename From>
bool convert_as(Attribute& value, const Attribute& wanted) {
  if (!std::holds_alternative<To>(wanted) || !std::holds_alternative<From>(value)) return false;
  const From from = std::get<From>(value);
  if constexpr (kIsList<To>) {
    if (!std::all_of(from.begin(), from.end(), [](auto item) { return holds<typename To::value_type>(item); })) return false;
    value = To(from.begin(), from.end());
  } else {
    if (!holds<To>(from)) return false;
    value = static_cast<To>(from);
  }
  return true;
}

template <typename To, typename... From>
bool convert_from(Attribute& value, const Attribute& wanted) {
  return (convert_as<To, From>(value, wanted) || ...);
}

using Ints = std::vector<int32_t>;
using Longs = std::vector<int64_t>;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;

template <typename T>
bool is_empty_list(const T& value) {
  if constexpr (kIsList<T>) return value.empty();
  return false;
}

}  // namespace

std::string attribute_to_string(const Attribute& attribute) {
  return std::visit(
      [](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (kIsList<T>) {
          std::string text = "[";
          for (size_t i = 0; i < value.size(); ++i) {
            if (i > 0) text += ", ";
            text += scalar_text(static_cast<typename T::value_type>(value[i]));
          }
          return text + "]";
        } else {
          return scalar_text(value);
        }
      },
      attribute);
}

std::string_view attribute_kind(const Attribute& value) {
  static constexpr std::string_view kKinds[] = {"int",   "float", "string", "ints",   "floats", "strings", "bool",
                                                "bools", "block", "long",   "blocks", "longs",  "double",  "doubles"};
  return kKinds[value.index()];
}

bool convert_attribute(Attribute& value, const Attribute& wanted) {
  if (value.index() == wanted.index()) return true;
  if (std::visit([](const auto& v) { return is_empty_list(v); }, value) &&
      std::visit([](const auto& w) { return kIsList<std::decay_t<decltype(w)>>; }, wanted)) {
    value = std::visit([](const auto& w) { return Attribute(std::decay_t<decltype(w)>{}); }, wanted);
    return true;
  }
  return convert_from<float, int32_t, int64_t, double>(value, wanted) ||
         convert_from<double, int32_t, int64_t, float>(value, wanted) || convert_from<int64_t, int32_t>(value, wanted) ||
         convert_from<int32_t, int64_t, bool>(value, wanted) || convert_from<Floats, Ints, Longs, Doubles>(value, wanted) ||
         convert_from<Doubles, Ints, Longs, Floats>(value, wanted) || convert_from<Longs, Ints>(value, wanted) ||
         convert_from<Ints, Longs>(value, wanted);
}

const std::vector<std::string>* SlotMap::find(std::string_view slot) const {
  for (const auto& [name, variables] : slots_) {
    if (name == slot) return &variables;
  }
  return nullptr;
}

std::vector<std::string>& SlotMap::operator[](std::string_view slot) {
  for (auto& [name, variables] : slots_) {
    if (name == slot) return variables;
  }
  return slots_.emplace_back(std::string(slot), std::vector<std::string>{}).second;
}

void SlotMap::erase(std::string_view slot) {
  std::erase_if(slots_, [&](const auto& entry) { return entry.first == slot; });
}

std::vector<std::string> OpDesc::input_names() const {
  std::vector<std::string> names;
  for (const auto& [slot, variables] : inputs) names.insert(names.end(), variables.begin(), variables.end());
  return names;
}

std::vector<std::string> OpDesc::output_names() const {
  std::vector<std::string> names;
  for (const auto& [slot, variables] : outputs) names.insert(names.end(), variables.begin(), variables.end());
  return names;
}

int32_t OpDesc::role() const { return attribute_or<int32_t>(kRoleAttribute, kRoleForward); }

}  // namespace argosy::graph
