#include "argosy/serve/check/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "argosy/base/text.h"
#include "argosy/graph/program.h"

namespace argosy::serve {
namespace {

std::string described(const TensorInfo& info) {
  return fmt::format("{} {}{}", graph::dtype_name(info.dtype), graph::shape_to_string(info.shape),
                     info.lod_level > 0 ? fmt::format(" in sequences of level {}", info.lod_level) : "");
}

// What an operator does, without what says where it came from.
graph::AttributeMap meant(graph::AttributeMap attributes) {
  for (const char* name :
       {"op_role", "op_role_var", "op_callstack", "op_namescope", "op_device", "with_quant_attr", "use_mkldnn", "use_cudnn"})
    attributes.erase(name);
  return attributes;
}

std::string slots_text(const graph::SlotMap& slots) {
  std::vector<std::string> parts;
  for (const auto& [slot, names] : slots)
    if (!names.empty()) parts.push_back(slot + "=" + join(names, "+"));
  std::sort(parts.begin(), parts.end());
  return join(parts, ", ");
}

std::string attribute_difference(const graph::AttributeMap& a, const graph::AttributeMap& b) {
  std::set<std::string> names;
  for (const auto& [name, value] : a) names.insert(name);
  for (const auto& [name, value] : b) names.insert(name);
  for (const std::string& name : names) {
    const auto in_a = a.find(name), in_b = b.find(name);
    if (in_a == a.end() || in_b == b.end()) continue;  // an operator without an attribute has its default
    graph::Attribute converted = in_b->second;
    if (in_a->second == in_b->second || (graph::convert_attribute(converted, in_a->second) && converted == in_a->second))
      continue;
    return fmt::format("attribute {}: {} against {}", name, graph::attribute_to_string(in_a->second),
                       graph::attribute_to_string(in_b->second));
  }
  return "";
}

std::string op_difference(const graph::OpDesc& a, const graph::OpDesc& b) {
  if (a.type != b.type) return fmt::format("'{}' against '{}'", a.type, b.type);
  if (slots_text(a.inputs) != slots_text(b.inputs))
    return fmt::format("'{}' reads {} against {}", a.type, slots_text(a.inputs), slots_text(b.inputs));
  if (slots_text(a.outputs) != slots_text(b.outputs))
    return fmt::format("'{}' writes {} against {}", a.type, slots_text(a.outputs), slots_text(b.outputs));
  const std::string attributes = attribute_difference(meant(a.attributes), meant(b.attributes));
  return attributes.empty() ? "" : fmt::format("'{}': {}", a.type, attributes);
}

bool near(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= tolerance * (1 + std::abs(b));
}

// How two parameters of one shape differ: in how many rows, where first, and where most. Empty: they do not.
std::string value_difference(const Tensor& a, const Tensor& b, double tolerance) {
  const auto x = a.values<float>(), y = b.values<float>();
  const auto row = a.shape.empty() || a.shape[0] == 0 ? size_t{1} : x.size() / static_cast<size_t>(a.shape[0]);
  size_t differing = 0, rows = 0, first = 0, most = 0, last_row = x.size();
  double largest = -1;
  for (size_t i = 0; i < x.size(); ++i) {
    if (near(x[i], y[i], tolerance)) continue;
    if (differing++ == 0) first = i;
    if (i / row != last_row) ++rows, last_row = i / row;
    if (const double by = std::abs(static_cast<double>(x[i]) - y[i]); !(by <= largest)) largest = by, most = i;
  }
  if (differing == 0) return "";
  return fmt::format("{} of {} rows differ, the first is key {}; most at key {}, column {}: {} against {} (by {:.3g})",
                     with_thousands(static_cast<int64_t>(rows)), with_thousands(a.shape.empty() ? 1 : a.shape[0]), first / row,
                     most / row, most % row, x[most], y[most], largest);
}

std::string parameter_difference(const ParameterFacts& a, const ParameterFacts& b, double tolerance) {
  if (a.dtype != b.dtype || a.shape != b.shape)
    return fmt::format("{} {} against {} {}", a.dtype, graph::shape_to_string(a.shape), b.dtype, graph::shape_to_string(b.shape));
  if (a.digest == b.digest) return "";
  const bool shown = a.values && b.values && a.values->dtype == graph::DType::float32;
  if (shown) return value_difference(*a.values, *b.values, tolerance);
  return "the checksums of its values differ; compare with the model's files to see which rows";
}

void add_line(Section& section, size_t max_lines, std::string line) {
  if (section.differences.size() < max_lines) section.differences.push_back(std::move(line));
}

// The output of that name; where there is none, as of a model that was saved elsewhere, the one at the same place.
const OutputValues& matching(const std::vector<OutputValues>& outputs, const std::string& name, size_t index) {
  const auto found = std::find_if(outputs.begin(), outputs.end(), [&](const auto& output) { return output.name == name; });
  return found == outputs.end() ? outputs[index] : *found;
}

std::string_view precision_text(const PredictorOptions& options) { return options.bfloat16_matmul ? "bfloat16" : "float32"; }
std::string_view fusion_text(const PredictorOptions& options) { return options.fuse ? "on" : "off"; }

std::string settings_text(const PredictorOptions& options) {
  return fmt::format("{}, fusion {}, {} thread{}", precision_text(options), fusion_text(options), options.threads,
                     options.threads == 1 ? "" : "s");
}

// "1", or where samples have ids, "1 (part-0:2)".
std::string sample_name(size_t number, const std::vector<std::string>& ids) {
  return number < ids.size() ? fmt::format("{} ({})", number, ids[number]) : std::to_string(number);
}

}  // namespace

Section compare_inputs(const Side& a, const Side& b) {
  Section section{
      .title = "inputs", .summary = fmt::format("{} against {}", a.inputs.size(), b.inputs.size()), .differences = {}};
  const auto look = [&](const Side& one, const Side& other, bool both) {
    for (const TensorInfo& info : one.inputs) {
      const auto found =
          std::find_if(other.inputs.begin(), other.inputs.end(), [&](const auto& each) { return each.name == info.name; });
      if (found == other.inputs.end())
        section.differences.push_back(fmt::format("'{}' is an input of {} alone", info.name, one.name));
      else if (both && !(info == *found))
        section.differences.push_back(fmt::format("'{}' is {} against {}", info.name, described(info), described(*found)));
    }
  };
  look(a, b, true);
  look(b, a, false);
  return section;
}

Section compare_programs(const Side& a, const Side& b, const CompareOptions& options) {
  Section section{.title = "program", .summary = "", .differences = {}};
  if (a.program == nullptr || b.program == nullptr) {
    section.summary = "a served or recorded side does not show its program";
    section.compared = false;
    return section;
  }
  const auto &x = a.program->global_block().ops(), &y = b.program->global_block().ops();
  section.summary = fmt::format("{} operators against {}", x.size(), y.size());
  if (a.program->block_count() != b.program->block_count())
    section.differences.push_back(fmt::format("{} blocks against {}", a.program->block_count(), b.program->block_count()));
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    const std::string difference = op_difference(*x[i], *y[i]);
    if (difference.empty()) continue;
    add_line(section, options.max_lines, fmt::format("operator {}: {}", i, difference));
    if (x[i]->type != y[i]->type) return section;  // what follows is out of step
  }
  if (x.size() != y.size()) {
    const auto& longer = x.size() > y.size() ? x : y;
    add_line(section, options.max_lines,
             fmt::format("operator {}: '{}' is in {} alone", std::min(x.size(), y.size()),
                         longer[std::min(x.size(), y.size())]->type, x.size() > y.size() ? a.name : b.name));
  }
  return section;
}

Section compare_parameters(const Side& a, const Side& b, const CompareOptions& options) {
  Section section{.title = "parameters", .summary = "", .differences = {}};
  if (!a.parameters || !b.parameters) {
    section.summary = "recorded predictions have no parameters";
    section.compared = false;
    return section;
  }
  section.summary = fmt::format("{} against {}", a.parameters->size(), b.parameters->size());
  for (const auto& [name, facts] : *a.parameters) {
    const auto found = b.parameters->find(name);
    const std::string difference = found == b.parameters->end()
                                       ? fmt::format("is in {} alone", a.name)
                                       : parameter_difference(facts, found->second, options.parameter_tolerance);
    if (!difference.empty()) add_line(section, options.max_lines, fmt::format("'{}': {}", name, difference));
  }
  for (const auto& [name, facts] : *b.parameters)
    if (!a.parameters->contains(name)) add_line(section, options.max_lines, fmt::format("'{}': is in {} alone", name, b.name));
  return section;
}

Section compare_settings(const Side& a, const Side& b) {
  Section section{.title = "settings", .summary = "", .differences = {}};
  if (!a.settings || !b.settings) {
    section.summary = "recorded predictions do not say them";
    section.compared = false;
    return section;
  }
  section.summary = settings_text(*a.settings) + " against " + settings_text(*b.settings);
  const auto add = [&section](const char* what, const auto& one, const auto& other) {
    if (one != other) section.differences.push_back(fmt::format("{}: {} against {}", what, one, other));
  };
  add("precision", precision_text(*a.settings), precision_text(*b.settings));
  add("fusion", fusion_text(*a.settings), fusion_text(*b.settings));
  add("threads", a.settings->threads, b.settings->threads);
  return section;
}

Result<Section> compare_predictions(const Side& a, const Side& b, const Inputs& samples, const CompareOptions& options) {
  const auto x = a.run(samples), y = b.run(samples);
  if (!x.ok()) return x.status().with_context("{}", a.name);
  if (!y.ok()) return y.status().with_context("{}", b.name);
  Section section{.title = "predictions", .summary = "", .differences = {}};
  const auto count = count_samples(a.inputs, samples);
  double largest = 0;
  if (x->size() != y->size()) section.differences.push_back(fmt::format("{} outputs against {}", x->size(), y->size()));
  for (size_t i = 0; i < std::min(x->size(), y->size()); ++i) {
    const auto &left = (*x)[i].values, &right = matching(*y, (*x)[i].name, i).values;
    if (left.size() != right.size()) {
      section.differences.push_back(fmt::format("output '{}': {} values against {}", (*x)[i].name, left.size(), right.size()));
      continue;
    }
    const size_t width = count.ok() && *count > 0 ? std::max<size_t>(left.size() / static_cast<size_t>(*count), 1) : 1;
    for (size_t j = 0; j < left.size(); ++j) {
      if (!std::isnan(left[j]) && !std::isnan(right[j])) largest = std::max(largest, std::abs(left[j] - right[j]));
      if (!near(left[j], right[j], options.tolerance))
        add_line(section, options.max_lines,
                 fmt::format("output '{}', sample {}, value {}: {} against {}", (*x)[i].name, sample_name(j / width, options.ids),
                             j % width, left[j], right[j]));
    }
  }
  section.summary = fmt::format("{} samples, largest difference {:.3g}, {} allowed", count.ok() ? std::to_string(*count) : "some",
                                largest, options.tolerance);
  return section;
}

}  // namespace argosy::serve
