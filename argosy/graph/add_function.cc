#include "argosy/graph/add_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "argosy/base/text.h"
#include "argosy/graph/dtype.h"

namespace argosy::graph {
namespace {

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

const SlotSchema* find_slot(const std::vector<SlotSchema>& slots, std::string_view name) {
  const auto found = std::ranges::find_if(slots, [&](const SlotSchema& slot) { return same_letters(slot.name, name); });
  return found == slots.end() ? nullptr : &*found;
}

double to_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  ARGOSY_CHECK(error == std::errc() && end == text.data() + text.size(), text);
  return number;
}

std::string unquoted(std::string_view text) {
  ARGOSY_CHECK(text.size() >= 2 && text.front() == text.back() && (text.front() == '\'' || text.front() == '"'), text);
  return std::string(text.substr(1, text.size() - 2));
}

// A literal of Python as an attribute of the kind that `like` has; nothing for None.
std::optional<Attribute> literal(const std::string& text, const Attribute& like) {
  if (text == "None") return std::nullopt;
  if (text == "True" || text == "False") return Attribute(text == "True");
  if (std::holds_alternative<std::string>(like)) return Attribute(unquoted(text));
  Attribute value = std::holds_alternative<float>(like) ? Attribute(static_cast<float>(to_number(text)))
                                                        : Attribute(static_cast<int32_t>(to_number(text)));
  ARGOSY_CHECK(convert_attribute(value, like), text);
  return value;
}

bool settle_attribute(ArgumentSchema& argument, const OpSchema& op, const std::string& name) {
  const AttributeSchema* attribute = op.find_attribute(name);
  if (attribute == nullptr) return false;
  const bool is_dtype = argument.name == "dtype" && std::holds_alternative<int32_t>(attribute->value);
  argument.kind = is_dtype ? ArgumentSchema::dtype : ArgumentSchema::attribute;
  argument.attribute_name = attribute->name;
  argument.doc = attribute->doc;
  if (argument.required || argument.default_text == "None") return true;
  argument.value = is_dtype ? Attribute(static_cast<int32_t>(*parse_dtype(unquoted(argument.default_text))))
                            : literal(argument.default_text, attribute->value);
  return true;
}

// Settles what `argument` is by the operator's slot or attribute `target`; false where there is none of that name.
bool settle(ArgumentSchema& argument, const OpSchema& op, const std::string& target) {
  if (const SlotSchema* slot = find_slot(op.inputs, target)) {
    argument.kind = slot->list ? ArgumentSchema::input_list : ArgumentSchema::input;
    argument.slot = slot->name;
    argument.doc = slot->doc;
    return true;
  }
  if (settle_attribute(argument, op, target)) return true;
  const SlotSchema* output = find_slot(op.outputs, target);
  if (output == nullptr) return false;
  argument.kind = ArgumentSchema::output;
  argument.slot = output->name;
  argument.doc = "written to, where it is given";
  return true;
}

void settle_target(ArgumentSchema& argument, const OpSchema& op, const std::string& target) {
  if (target == "-" || target.starts_with('*')) {  // nothing of the operator
    argument.kind = target == "-" ? ArgumentSchema::unused : ArgumentSchema::other;
    argument.doc = target == "-" ? "no effect" : target.substr(1);
    return;
  }
  if (target.starts_with('+')) {
    argument.kind = ArgumentSchema::choice;
    argument.slot = target.substr(1);
    argument.doc = fmt::format("also returns {}", argument.slot);
    return;
  }
  const size_t bar = target.find('|');
  if (bar == std::string::npos) {
    ARGOSY_CHECK(settle(argument, op, target), target);
    return;
  }
  ARGOSY_CHECK(settle_attribute(argument, op, target.substr(0, bar)), target);
  argument.slot = target.substr(bar + 1);
}

void settle_argument(ArgumentSchema& argument, const FunctionSchema& function, const OpSchema& op) {
  if (const auto target = function.targets.find(argument.name); target != function.targets.end()) {
    settle_target(argument, op, target->second);
  } else if (argument.name == "name") {
    argument.kind = ArgumentSchema::layer_name;
    argument.doc = "of the layer, which its variables are named after";
  } else if (argument.name == "act") {
    argument.kind = ArgumentSchema::activation;
    argument.doc = "an activation that is applied to the result, 'relu' for one";
  } else {
    ARGOSY_CHECK(settle(argument, op, argument.name), fmt::format("{}: argument '{}'", function.signature, argument.name));
  }
}

ArgumentSchema parse_argument(std::string_view item) {
  const size_t equals = item.find('=');
  ArgumentSchema argument{.name = std::string(item.substr(0, equals)), .required = equals == std::string_view::npos};
  if (!argument.required) argument.default_text = item.substr(equals + 1);
  return argument;
}

// "Out:values" is the slot Out, which C++ calls values.
void name_results(FunctionSchema& function) {
  for (std::string& slot : function.returns) {
    const size_t colon = slot.find(':');
    std::string& name = function.result_names.emplace_back(colon == std::string::npos ? slot : slot.substr(colon + 1));
    std::ranges::transform(name, name.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    slot.resize(std::min(colon, slot.size()));
  }
}

// Fills in the second half of `function` from the first.
void describe(FunctionSchema& function, const OpSchema& op) {
  const std::string& text = function.signature;
  const size_t open = text.find('(');
  ARGOSY_CHECK(open != std::string::npos && text.back() == ')', text);
  function.name = text.substr(0, open);
  function.doc = op.doc;
  for (const std::string& part : split(std::string_view(text).substr(open + 1, text.size() - open - 2), ',')) {
    settle_argument(function.arguments.emplace_back(parse_argument(trim(part))), function, op);
  }
  if (function.layer.empty()) function.layer = op.type;
  if (function.returns.empty()) function.returns = {op.outputs.front().name};
  name_results(function);
  if (function.makes.empty()) {
    for (const SlotSchema& slot : op.outputs) function.makes.push_back(slot.name);
  }
  for (const auto* slots : {&function.returns, &function.makes}) {
    for (const std::string& slot : *slots) ARGOSY_CHECK(op.find_output(slot) != nullptr, slot);
  }
}

}  // namespace

void add_function(OpSchema& op, FunctionSchema function) {
  describe(function, op);
  OpSchemas::instance().add_function(op, std::move(function));
}

}  // namespace argosy::graph
