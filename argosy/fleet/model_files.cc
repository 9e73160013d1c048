#include "argosy/fleet/model_files.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <set>

#include "argosy/base/file.h"
#include "argosy/base/log.h"
#include "argosy/base/text.h"
#include "argosy/graph/tensor_file.h"

namespace argosy::fleet {
namespace fs = std::filesystem;
namespace {

constexpr size_t kRowsAtOnce = 65536;

// A variable of the job and its values.
Status give(ps::Server& server, const Plan& plan, int table, std::optional<size_t> slot, std::span<const float> values) {
  const ps::TableSpec& spec = plan.spec.tables[static_cast<size_t>(table)];
  if (!spec.sparse) return server.import_dense(static_cast<size_t>(table), slot, values);
  if (slot && values.size() == 1)
    return server.import_rows(static_cast<size_t>(table), slot, {}, values);  // one number for the whole table
  const size_t rows = values.size() / spec.width;
  std::vector<uint64_t> keys;
  for (size_t begin = 0; begin < rows; begin += keys.size()) {
    keys.resize(std::min(kRowsAtOnce, rows - begin));
    std::iota(keys.begin(), keys.end(), begin);
    RETURN_IF_ERROR(
        server.import_rows(static_cast<size_t>(table), slot, keys, values.subspan(begin * spec.width, keys.size() * spec.width)));
  }
  return {};
}

struct Report {
  std::vector<std::string> loaded, missing, unused;

  std::string text() const {
    std::string result = fmt::format("loaded {} variables", loaded.size());
    if (!missing.empty()) result += fmt::format("; {} are not there and start anew: {}", missing.size(), join(missing, ", "));
    if (!unused.empty()) result += fmt::format("; {} files are of no use to this job: {}", unused.size(), join(unused, ", "));
    return result;
  }
};

Result<bool> load_variable(ps::Server& server, const Plan& plan, const std::string& name, const engine::RemoteVariable& variable,
                           const fs::path& path) {
  auto bytes = read_file(path);
  if (bytes.status().code() == Code::not_found) return false;
  if (!bytes.ok()) return bytes.status();
  auto file = graph::decode_tensor(*bytes);
  if (!file.ok()) return file.status().with_context("'{}'", path.string());
  if (file->dtype != graph::DType::float32 || file->shape != variable.shape) {
    return Status::invalid_argument("'{}' is {} {}, but this job's '{}' is {} float32", path.string(),
                                    graph::shape_to_string(file->shape), graph::dtype_name(file->dtype), name,
                                    graph::shape_to_string(variable.shape));
  }
  std::vector<float> values(file->bytes.size() / sizeof(float));
  std::memcpy(values.data(), file->bytes.data(), file->bytes.size());
  const auto state = plan.states.find(name);
  const std::optional<size_t> slot = state == plan.states.end() ? std::nullopt : std::optional(state->second.slot);
  RETURN_IF_ERROR(give(server, plan, variable.table, slot, values));
  return true;
}

}  // namespace

Status load_model(ps::Server& server, const Plan& plan, const std::string& folder) {
  if (!fs::is_directory(folder)) return Status::not_found("cannot load from '{}': there is no such folder", folder);
  Report report;
  std::set<std::string> used;
  for (const auto& [name, variable] : plan.variables()) {
    ASSIGN_OR_RETURN(const bool found, load_variable(server, plan, name, variable, fs::path(folder) / name));
    (found ? report.loaded : report.missing).push_back(name);
    used.insert(name);
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && !name.starts_with("__") && !used.contains(name)) report.unused.push_back(name);
  }
  std::sort(report.unused.begin(), report.unused.end());
  if (report.loaded.empty()) {
    return Status::not_found("'{}' has none of this job's variables; it lacks {}", folder, join(report.missing, ", "));
  }
  log_info("'{}': {}", folder, report.text());
  return {};
}

Status give_values(ps::Server& server, const Plan& plan, const engine::Scope& scope) {
  for (const auto& [name, variable] : plan.variables()) {
    const engine::Value* value = scope.find(name);
    if (value == nullptr || !value->tensor.defined()) continue;
    const at::Tensor tensor = value->tensor.detach().contiguous();
    const auto state = plan.states.find(name);
    const std::optional<size_t> slot = state == plan.states.end() ? std::nullopt : std::optional(state->second.slot);
    RETURN_IF_ERROR(
        give(server, plan, variable.table, slot, {tensor.const_data_ptr<float>(), static_cast<size_t>(tensor.numel())}));
  }
  return {};
}

}  // namespace argosy::fleet
