#include "argosy/inspect/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "argosy/base/file.h"
#include "argosy/base/text.h"
#include "argosy/graph/inference_model.h"
#include "argosy/graph/model_files.h"
#include "argosy/inspect/saved_tensors.h"
#include "argosy/inspect/server_state.h"
#include "argosy/inspect/tensor_facts.h"

namespace argosy::inspect {
namespace fs = std::filesystem;
namespace {

void add_variables(std::string& text, const char* title, const graph::Block& block, const std::vector<std::string>& names) {
  fmt::format_to(std::back_inserter(text), "{} ({}):\n", title, names.size());
  for (const std::string& name : names) {
    const graph::VarDesc* variable = block.find_var(name);
    if (variable == nullptr) continue;
    fmt::format_to(std::back_inserter(text), "  {:<32} {} {}{}\n", name, graph::dtype_name(variable->dtype),
                   graph::shape_to_string(variable->shape),
                   variable->lod_level > 0 ? fmt::format("  sequences of level {}", variable->lod_level) : "");
  }
}

std::string program_text(const graph::Program& program) {
  std::string text;
  const graph::Block& block = program.global_block();
  if (const auto names = graph::inference_names(program); names.ok()) {
    add_variables(text, "inputs", block, names->feeds);
    add_variables(text, "outputs", block, names->fetches);
  } else {
    text += "a program for training: no inputs and outputs of its own\n";
  }
  std::map<std::string, int> types;
  for (const auto& op : block.ops()) ++types[op->type];
  std::vector<std::string> parts;
  for (const auto& [type, count] : types) parts.push_back(count == 1 ? type : fmt::format("{} {}", count, type));
  fmt::format_to(std::back_inserter(text), "operators ({}, {} block{}): {}\n", block.ops().size(), program.block_count(),
                 program.block_count() == 1 ? "" : "s", join(parts, ", "));
  return text;
}

Result<std::string> tensors_text(const SavedTensors& tensors) {
  std::string lines;
  uint64_t bytes = 0;
  int64_t numbers = 0;
  RETURN_IF_ERROR(tensors.each([&](const std::string& name, const graph::TensorFile& tensor) {
    const TensorFacts facts = facts_of(tensor);
    bytes += facts.bytes;
    numbers += static_cast<int64_t>(facts.bytes / graph::dtype_size(facts.dtype));
    fmt::format_to(std::back_inserter(lines), "  {:<32} {}\n", name, facts.line());
  }));
  return fmt::format("parameters ({}, {} numbers, {}):\n{}", tensors.names().size(), with_thousands(numbers), bytes_text(bytes),
                     lines);
}

// What the values of a model were trained on, where its folder says it.
Result<std::string> ledger_text(const fs::path& path) {
  const fs::path folder = fs::is_directory(path) ? path : path.parent_path();
  const fs::path of_prefix = fs::path(path).replace_extension(".pdledger");  // of fluid.save
  const fs::path file = fs::is_regular_file(of_prefix) ? of_prefix : folder / "__ledger__";
  if (!fs::exists(file)) return std::string();
  ASSIGN_OR_RETURN(const std::string ledger, read_file(file));
  return "ledger:\n" + ledger + "\n";
}

std::vector<std::string> program_differences(const graph::Program* a, const graph::Program* b) {
  if ((a == nullptr) != (b == nullptr)) return {"one is a model, the other has no program"};
  if (a == nullptr || program_text(*a) == program_text(*b)) return {};
  return {"the programs differ:", "A: " + program_text(*a) + "B: " + program_text(*b)};
}

// Tensors of the same name, but two single ones whatever their names are.
Result<std::vector<std::string>> tensor_differences(const SavedModelFiles& a, const SavedModelFiles& b) {
  const auto &left = a.tensors.names(), &right = b.tensors.names();
  const bool single = a.program == nullptr && b.program == nullptr && left.size() == 1 && right.size() == 1;
  std::vector<std::string> lines;
  std::map<std::string, std::string> bytes;  // of A, by the name in B
  RETURN_IF_ERROR(a.tensors.each([&](const std::string& name, const graph::TensorFile& tensor) {
    if (single || std::binary_search(right.begin(), right.end(), name))
      graph::append_tensor(tensor, bytes[single ? right[0] : name]);
    else
      lines.push_back(fmt::format("'{}' is in {} alone", name, a.path.string()));
  }));
  RETURN_IF_ERROR(b.tensors.each([&](const std::string& name, const graph::TensorFile& tensor) {
    const auto other = bytes.find(name);
    const auto decoded =
        other == bytes.end() ? Status::not_found("is in {} alone", b.path.string()) : graph::decode_tensor(other->second);
    const std::string difference = decoded.ok() ? difference_of(*decoded, tensor) : decoded.status().message();
    if (!difference.empty()) lines.push_back(fmt::format("'{}': {}", name, difference));
  }));
  return lines;
}

}  // namespace

Result<std::string> summary(const fs::path& path) {
  ASSIGN_OR_RETURN(const auto state, server_state_text(path));
  if (state) return *state;
  ASSIGN_OR_RETURN(std::string text, ledger_text(path));
  const auto saved = open_saved(path);
  if (!saved.ok()) {
    if (!text.empty()) return text;  // a folder with a ledger alone
    return saved.status();
  }
  std::string model = fmt::format("{}\n", saved->path.string());
  if (saved->program != nullptr) model += program_text(*saved->program);
  if (!saved->pickled.empty())
    return fmt::format("{}parameters: in '{}'; `argosy inspect` of that file shows them\n{}", model, saved->pickled.string(),
                       text);
  ASSIGN_OR_RETURN(const std::string tensors, tensors_text(saved->tensors));
  return model + tensors + text;
}

Result<std::string> raw_text(const fs::path& path) {
  ASSIGN_OR_RETURN(std::string text, ledger_text(path));
  const auto files = graph::ModelFiles::find(path);
  if (!files.ok()) {
    if (!text.empty()) return text;
    return files.status();
  }
  ASSIGN_OR_RETURN(const auto saved, open_saved(files->model));
  if (saved.program == nullptr)
    return Status::invalid_argument("'{}' is a tensor; --raw shows the program of a model", path.string());
  return text + saved.program->to_string();
}

Result<Difference> compare(const fs::path& a, const fs::path& b) {
  ASSIGN_OR_RETURN(const auto states, compare_server_states(a, b));
  if (states) return *states;
  ASSIGN_OR_RETURN(const auto left, open_saved(a));
  ASSIGN_OR_RETURN(const auto right, open_saved(b));
  if (!left.pickled.empty() || !right.pickled.empty())
    return Status::invalid_argument(
        "the parameters of '{}' are in '{}', which fluid.save has written beside the program; compare such files (--diff) "
        "themselves",
        (left.pickled.empty() ? right : left).path.string(), (left.pickled.empty() ? right : left).pickled.string());
  std::vector<std::string> lines = program_differences(left.program.get(), right.program.get());
  ASSIGN_OR_RETURN(const auto tensors, tensor_differences(left, right));
  lines.insert(lines.end(), tensors.begin(), tensors.end());
  if (!lines.empty()) return Difference{.equal = false, .text = join(lines, "\n") + "\n"};
  return Difference{.equal = true,
                    .text = fmt::format("equal: {} tensors{}\n", left.tensors.names().size(),
                                        left.program != nullptr ? ", the inputs, outputs and operators" : "")};
}

}  // namespace argosy::inspect
