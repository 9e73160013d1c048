// The rules that there are, by the names of their operators.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "argosy/base/text.h"
#include "argosy/optim/kernel_rule.h"
#include "argosy/optim/rule.h"

namespace argosy::optim {
namespace {

using internal::RuleEntry;

const std::vector<RuleEntry>& entries() {
  static const std::vector<RuleEntry> all = [] {
    std::vector<RuleEntry> list;
    for (const auto rules : {internal::gradient_rules(), internal::adagrad_rules(), internal::adam_rules(),
                             internal::ftrl_rules(), internal::lamb_rules(), internal::lars_rules()}) {
      list.insert(list.end(), rules.begin(), rules.end());
    }
    return list;
  }();
  return all;
}

Result<const RuleEntry*> find_entry(std::string_view op_type) {
  std::vector<std::string> names;
  for (const RuleEntry& entry : entries()) {
    if (entry.info.op_type == op_type) return &entry;
    names.emplace_back(entry.info.op_type);
  }
  const auto meant = nearest_name(op_type, names);
  return Status::not_found("no update rule is named '{}'; {}", op_type,
                           meant ? fmt::format("did you mean '{}'?", *meant) : "there are: " + join(names, ", "));
}

Status unknown_hyper_parameter(const RuleInfo& info, std::string_view name) {
  std::vector<std::string> names;
  for (const HyperParameter& known : info.hyper_parameters) names.emplace_back(known.name);
  const auto meant = nearest_name(name, names);
  const std::string choice = names.empty() ? "it has none" : "it has: " + join(names, ", ");
  return Status::invalid_argument("update rule '{}' has no hyper-parameter '{}'; {}", info.op_type, name,
                                  meant ? fmt::format("did you mean '{}'?", *meant) : choice);
}

Status check_value(const RuleInfo& info, const HyperParameter& known, float value) {
  if (!std::isfinite(value)) {
    return Status::invalid_argument("update rule '{}': {} is {}; expected a finite number", info.op_type, known.name, value);
  }
  if (known.kind == HyperParameter::boolean && value != 0 && value != 1) {
    return Status::invalid_argument("update rule '{}': {} is {}; expected 0 or 1", info.op_type, known.name, value);
  }
  return {};
}

// The values of all hyper-parameters, in the rule's order.
Result<std::vector<float>> settle(const RuleInfo& info, const HyperParameters& given) {
  std::vector<float> values;
  for (const HyperParameter& known : info.hyper_parameters) values.push_back(known.default_value);
  for (const auto& [name, value] : given) {
    const auto known = std::ranges::find(info.hyper_parameters, name, &HyperParameter::name);
    if (known == info.hyper_parameters.end()) return unknown_hyper_parameter(info, name);
    RETURN_IF_ERROR(check_value(info, *known, value));
    values[static_cast<size_t>(known - info.hyper_parameters.begin())] = value;
  }
  return values;
}

}  // namespace

std::span<const RuleInfo> all_rules() {
  static const std::vector<RuleInfo> infos = [] {
    std::vector<RuleInfo> list;
    for (const RuleEntry& entry : entries()) list.push_back(entry.info);
    return list;
  }();
  return infos;
}

Result<const RuleInfo*> find_rule(std::string_view op_type) {
  ASSIGN_OR_RETURN(const RuleEntry* entry, find_entry(op_type));
  return &entry->info;
}

Result<std::unique_ptr<Rule>> make_rule(std::string_view op_type, const HyperParameters& hyper_parameters) {
  ASSIGN_OR_RETURN(const RuleEntry* entry, find_entry(op_type));
  ASSIGN_OR_RETURN(std::vector<float> values, settle(entry->info, hyper_parameters));
  return entry->make(entry->info, std::move(values));
}

}  // namespace argosy::optim
