#include "argosy/fleet/load_into_server.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

#include "argosy/base/file.h"
#include "argosy/base/log.h"
#include "argosy/base/text.h"
#include "argosy/data/working_folder.h"
#include "argosy/fleet/table_rows.h"
#include "argosy/graph/tensor_file.h"
#include "argosy/ps/server/snapshot_folder.h"

namespace argosy::fleet {
namespace fs = std::filesystem;
namespace {

// A variable of the job and its values.
Status give(ps::Server& server, const Plan& plan, int table, std::optional<size_t> slot, std::span<const float> values) {
  const ps::TableSpec& spec = plan.spec.tables[static_cast<size_t>(table)];
  if (!spec.sparse) return server.import_dense(static_cast<size_t>(table), slot, values);
  if (slot && values.size() == 1)
    return server.import_rows(static_cast<size_t>(table), slot, {}, values);  // one number for the whole table
  return for_all_rows(values.size() / spec.width, [&](std::span<const uint64_t> keys, size_t begin) {
    return server.import_rows(static_cast<size_t>(table), slot, keys,
                              values.subspan(begin * spec.width, keys.size() * spec.width));
  });
}

std::string text_of(const engine::LoadReport& report) {
  std::string text = fmt::format("loaded {} variables", report.loaded.size());
  if (!report.missing.empty())
    text += fmt::format("; {} are not there and start anew: {}", report.missing.size(), join(report.missing, ", "));
  if (!report.unused.empty())
    text += fmt::format("; {} are of no use to this job: {}", report.unused.size(), join(report.unused, ", "));
  return text;
}

// `where` is the file, for messages.
Status load_tensor(ps::Server& server, const Plan& plan, const std::string& name, const engine::RemoteVariable& variable,
                   const graph::TensorFile& file, const std::string& where) {
  if (file.dtype != graph::DType::float32 || file.shape != variable.shape) {
    return Status::invalid_argument("'{}' is {} {}, but this job's '{}' is {} float32", where, graph::shape_to_string(file.shape),
                                    graph::dtype_name(file.dtype), name, graph::shape_to_string(variable.shape));
  }
  std::vector<float> values(file.bytes.size() / sizeof(float));
  std::memcpy(values.data(), file.bytes.data(), file.bytes.size());
  const auto state = plan.states.find(name);
  const std::optional<size_t> slot = state == plan.states.end() ? std::nullopt : std::optional(state->second.slot);
  return give(server, plan, variable.table, slot, values);
}

Result<bool> load_variable(ps::Server& server, const Plan& plan, const std::string& name, const engine::RemoteVariable& variable,
                           const fs::path& path) {
  auto bytes = read_file(path);
  if (bytes.status().code() == Code::not_found) return false;
  if (!bytes.ok()) return bytes.status();
  auto file = graph::decode_tensor(*bytes);
  if (!file.ok()) return file.status().with_context("'{}'", path.string());
  RETURN_IF_ERROR(load_tensor(server, plan, name, variable, *file, path.string()));
  return true;
}

bool asked_for(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

Status check_names(const Plan& plan, const std::vector<std::string>& names) {
  const auto variables = plan.variables();
  for (const std::string& name : names) {
    if (variables.contains(name)) continue;
    std::vector<std::string> known;
    for (const auto& variable : variables) known.push_back(variable.first);
    return Status::not_found("this job's servers have no variable '{}'; they have {}", name, join(known, ", "));
  }
  return {};
}

// The only file of a folder that has none of the job's variables under its name: save_persistables(filename=…) writes all into
// it.
std::optional<fs::path> combined_file(const Plan& plan, const fs::path& folder) {
  std::optional<fs::path> only;
  const auto variables = plan.variables();
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name.starts_with("__")) continue;
    if (only || variables.contains(name)) return std::nullopt;
    only = entry.path();
  }
  return only;
}

Result<engine::LoadReport> load_combined(ps::Server& server, const Plan& plan, const fs::path& path,
                                         const std::vector<std::string>& names) {
  ASSIGN_OR_RETURN(const std::string bytes, read_file(path));
  std::vector<graph::TensorFile> tensors;
  for (graph::TensorFileReader reader(bytes); !reader.done();) {
    auto file = reader.next();
    if (!file.ok()) return file.status().with_context("'{}'", path.string());
    tensors.push_back(std::move(*file));
  }
  if (tensors.size() != plan.persistables.size()) {
    return Status::invalid_argument(
        "'{}' has {} tensors, but a file of all persistable variables of this job's program would have {}; save it from the same "
        "program, or one file per variable (save_persistables without filename)",
        path.string(), tensors.size(), plan.persistables.size());
  }
  engine::LoadReport report;
  const auto variables = plan.variables();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string& name = plan.persistables[i];
    const auto variable = variables.find(name);
    if (variable == variables.end() || !asked_for(names, name)) continue;
    RETURN_IF_ERROR(load_tensor(server, plan, name, variable->second, tensors[i], path.string()));
    report.loaded.push_back(name);
  }
  return report;
}

Result<engine::LoadReport> load_files(ps::Server& server, const Plan& plan, const fs::path& folder,
                                      const std::vector<std::string>& names) {
  if (const auto combined = combined_file(plan, folder)) return load_combined(server, plan, *combined, names);
  engine::LoadReport report;
  std::set<std::string> known;
  for (const auto& [name, variable] : plan.variables()) {
    known.insert(name);
    if (!asked_for(names, name)) continue;
    ASSIGN_OR_RETURN(const bool found, load_variable(server, plan, name, variable, folder / name));
    (found ? report.loaded : report.missing).push_back(name);
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && !name.starts_with("__") && !known.contains(name)) report.unused.push_back(name);
  }
  std::sort(report.unused.begin(), report.unused.end());
  return report;
}

Result<engine::LoadReport> load_snapshot(ps::Server& server, const Plan& plan, const fs::path& folder,
                                         const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!plan.states.contains(name)) continue;
    return Status::invalid_argument("it is a snapshot, which has '{}' together with the parameter '{}': name that", name,
                                    plan.spec.tables[static_cast<size_t>(plan.states.find(name)->second.table)].name);
  }
  ASSIGN_OR_RETURN(const ps::SnapshotLoadReport found, server.load_snapshot(folder, names));
  engine::LoadReport report;
  for (const ps::LoadedTable& table : found.tables)
    (table.missing ? report.missing : table.unused ? report.unused : report.loaded).push_back(table.table);
  return report;
}

}  // namespace

Result<engine::LoadReport> load_model(ps::Server& server, const Plan& plan, const ServerModel& model) {
  RETURN_IF_ERROR(check_names(plan, model.names));
  ASSIGN_OR_RETURN(const auto folder, data::WorkingFolder::for_reading({model.folder, model.store}));
  if (!fs::is_directory(folder.path())) return Status::not_found("cannot load from '{}': there is no such folder", model.folder);
  auto report = ps::is_snapshot(folder.path()) ? load_snapshot(server, plan, folder.path(), model.names)
                                               : load_files(server, plan, folder.path(), model.names);
  if (!report.ok()) return report.status().with_context("'{}'", model.folder);
  if (report->loaded.empty())
    return Status::not_found("'{}' has none of this job's variables; it lacks {}", model.folder, join(report->missing, ", "));
  if (!model.names.empty() && !report->missing.empty())
    return Status::not_found("'{}' has no {}, which init_server() was asked for", model.folder, join(report->missing, ", "));
  log_info("'{}': {}", model.folder, text_of(*report));
  return report;
}

Status give_values(ps::Server& server, const Plan& plan, const engine::Scope& scope) {
  for (const auto& [name, variable] : plan.variables()) {
    const engine::Value* value = scope.find(name);
    if (value == nullptr || !value->tensor.defined()) continue;
    const at::Tensor tensor = value->tensor.detach().cpu().contiguous();
    const auto state = plan.states.find(name);
    const std::optional<size_t> slot = state == plan.states.end() ? std::nullopt : std::optional(state->second.slot);
    RETURN_IF_ERROR(
        give(server, plan, variable.table, slot, {tensor.const_data_ptr<float>(), static_cast<size_t>(tensor.numel())}));
  }
  return {};
}

}  // namespace argosy::fleet
