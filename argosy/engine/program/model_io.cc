#include "argosy/engine/program/model_io.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include "argosy/base/file.h"
#include "argosy/base/log.h"
#include "argosy/base/text.h"
#include "argosy/base/uri.h"
#include "argosy/data/working_folder.h"
#include "argosy/engine/program/variables_progress.h"
#include "argosy/engine/remote/remote_parameters.h"
#include "argosy/graph/inference_model.h"
#include "argosy/graph/tensor_file.h"
#include "argosy/graph/wire.h"

namespace argosy::engine {
namespace fs = std::filesystem;
namespace {

using Variables = std::vector<const graph::VarDesc*>;

Variables sorted_by_name(Variables variables) {
  std::sort(variables.begin(), variables.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  return variables;
}

std::string_view bytes_of(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()};
}

// A variable's name is its file's name, and may come from a model that somebody else made: it must stay inside the folder.
// Paddle's own names may have folders in them.
Status check_file_name(const std::string& name) {
  const fs::path path(name);
  const bool climbs = std::any_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
  if (name.empty() || path.is_absolute() || climbs)
    return Status::invalid_argument("variable '{}' cannot be a file in a model's folder", name);
  return {};
}

// A tensor of the scope on its way to a file: `tensor` owns the bytes that `file` shows.
struct Outgoing {
  at::Tensor tensor;
  graph::TensorFile file;
  std::string header;
};

Result<Outgoing> outgoing(const Scope& scope, const graph::VarDesc& variable) {
  const auto remote = scope.remote();
  const RemoteVariable* held = remote == nullptr ? nullptr : remote->find(variable.name);
  Value fetched;
  if (held != nullptr) {  // also a dense one: a geo worker's copy has what it has not sent yet
    ASSIGN_OR_RETURN(fetched.tensor, fetch_remote(*remote, variable.name));
  }
  const Value* value = fetched.defined() ? &fetched : scope.find(variable.name);
  if (value == nullptr || !value->tensor.defined()) {
    return Status::failed_precondition("variable '{}' has no value to save; run the startup program first", variable.name);
  }
  Outgoing out{.tensor = value->tensor.detach().cpu().contiguous()};
  out.file = {.dtype = dtype_of(out.tensor), .shape = out.tensor.sizes().vec(), .bytes = bytes_of(out.tensor)};
  if (value->lod != nullptr) out.file.lod = *value->lod;
  out.header = graph::encode_tensor_header(out.file);
  return out;
}

// What the values come from, beside them. Paddle's loaders ask for files by name, and this one leaves out names like it.
Status write_ledger(FolderWriter& writer, RemoteParameters& remote) {
  ASSIGN_OR_RETURN(const std::string ledger, remote.ledger());
  return ledger.empty() ? Status() : writer.write("__ledger__", ledger);
}

Status write_vars(FolderWriter& writer, const Scope& scope, const Variables& variables, const std::string& filename) {
  if (const auto remote = scope.remote()) {
    RETURN_IF_ERROR(remote->refresh());
    RETURN_IF_ERROR(write_ledger(writer, *remote));
  }
  VariablesProgress progress("save", variables);
  std::vector<Outgoing> tensors;
  for (const graph::VarDesc* variable : sorted_by_name(variables)) {
    ASSIGN_OR_RETURN(tensors.emplace_back(), outgoing(scope, *variable));
    progress.add(*variable);
    if (!filename.empty()) continue;
    RETURN_IF_ERROR(check_file_name(variable->name));
    const std::string_view parts[] = {tensors.back().header, tensors.back().file.bytes};
    RETURN_IF_ERROR(writer.write(variable->name, parts));
    tensors.clear();
  }
  if (filename.empty()) return {};
  std::vector<std::string_view> parts;
  for (const Outgoing& tensor : tensors) {
    parts.push_back(tensor.header);
    parts.push_back(tensor.file.bytes);
  }
  return writer.write(filename, parts);
}

// What a variable will become. The bytes were copied once, out of the file.
struct Incoming {
  const graph::VarDesc* variable;
  at::Tensor tensor;
  LodPtr lod;
};

Result<Incoming> incoming(const graph::VarDesc& variable, const graph::TensorFile& file) {
  if (!graph::shape_fits(variable.shape, file.shape) || variable.dtype != file.dtype) {
    return Status::invalid_argument("'{}' is {} {} on disk, expected {} {}", variable.name, graph::shape_to_string(file.shape),
                                    graph::dtype_name(file.dtype), graph::shape_to_string(variable.shape),
                                    graph::dtype_name(variable.dtype));
  }
  Incoming in{.variable = &variable, .tensor = at::empty(file.shape, scalar_type(file.dtype))};
  std::memcpy(in.tensor.mutable_data_ptr(), file.bytes.data(), file.bytes.size());
  if (!file.lod.empty()) in.lod = std::make_shared<Lod>(file.lod);
  return in;
}

bool held_by_servers(const Scope& scope, const graph::VarDesc& variable) {
  const auto remote = scope.remote();
  return remote != nullptr && remote->find(variable.name) != nullptr;
}

enum class Into { scope_and_servers, scope_only };

// Into the scope, and to the servers where they hold the variable; scope_only: what they hold stays as it is.
Status store(Scope& scope, std::vector<Incoming>& all, Into into) {
  const auto remote = scope.remote();
  for (Incoming& in : all) {
    const RemoteVariable* held = remote == nullptr ? nullptr : remote->find(in.variable->name);
    if (held != nullptr && into == Into::scope_only) continue;
    if (held != nullptr) {
      RETURN_IF_ERROR(
          remote->store(in.variable->name, {in.tensor.const_data_ptr<float>(), static_cast<size_t>(in.tensor.numel())}));
      if (held->kind != RemoteVariable::dense) continue;
    }
    Value* known = scope.find(in.variable->name);
    Value& value = known != nullptr ? *known : scope.var(in.variable->name);
    const bool same = value.tensor.defined() && value.tensor.sizes() == in.tensor.sizes() &&
                      value.tensor.scalar_type() == in.tensor.scalar_type();
    if (same)
      value.tensor.detach().copy_(in.tensor);
    else
      value.tensor = in.tensor;
    value.lod = in.lod;
  }
  return {};
}

// Errors of several variables as one message.
class Problems {
 public:
  void add(const Status& status) {
    if (!status.ok()) messages_.push_back(status.message());
  }
  Status status(const fs::path& folder) const {
    if (messages_.empty()) return {};
    return Status::invalid_argument("cannot load from '{}': {}", folder.string(), join(messages_, "; "));
  }

 private:
  std::vector<std::string> messages_;
};

Result<LoadReport> load_files(Scope& scope, const Variables& variables, const fs::path& folder, Into into) {
  LoadReport report;
  Problems problems;
  std::vector<Incoming> all;
  std::vector<std::string> missing;
  VariablesProgress progress("load", variables);
  for (const graph::VarDesc* variable : variables) {
    progress.add(*variable);
    RETURN_IF_ERROR(check_file_name(variable->name));
    auto bytes = read_file(folder / variable->name);
    if (bytes.status().code() == Code::not_found) {
      missing.push_back(variable->name);
      continue;
    }
    if (!bytes.ok()) return bytes.status();
    auto file = graph::decode_tensor(*bytes);
    if (!file.ok()) {
      problems.add(file.status().with_context("'{}'", (folder / variable->name).string()));
      continue;
    }
    auto in = incoming(*variable, *file);
    problems.add(in.status());
    if (in.ok()) all.push_back(std::move(*in));
    report.loaded.push_back(variable->name);
  }
  if (!missing.empty())
    problems.add(Status::not_found("no file for {} of {} variables: {}", missing.size(), variables.size(), join(missing, ", ")));
  RETURN_IF_ERROR(problems.status(folder));
  RETURN_IF_ERROR(store(scope, all, into));
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool used = std::find(report.loaded.begin(), report.loaded.end(), name) != report.loaded.end();
    if (!used && entry.is_regular_file() && !name.starts_with("__")) report.unused.push_back(name);
  }
  std::sort(report.unused.begin(), report.unused.end());
  return report;
}

Result<LoadReport> load_combined(Scope& scope, const Variables& variables, const fs::path& path, Into into) {
  LoadReport report;
  Problems problems;
  ASSIGN_OR_RETURN(const std::string bytes, read_file(path));
  graph::TensorFileReader reader(bytes);
  std::vector<Incoming> all;
  for (const graph::VarDesc* variable : sorted_by_name(variables)) {
    if (reader.done()) {
      return Status::not_found("'{}' has {} tensors, but {} variables are to be loaded; the first without one is '{}'",
                               path.string(), report.loaded.size(), variables.size(), variable->name);
    }
    ASSIGN_OR_RETURN(const graph::TensorFile file, reader.next());
    auto in = incoming(*variable, file);
    problems.add(in.status());
    if (in.ok()) all.push_back(std::move(*in));
    report.loaded.push_back(variable->name);
  }
  RETURN_IF_ERROR(problems.status(path));
  if (!reader.done()) {
    return Status::invalid_argument(
        "'{}' holds more tensors than the {} variables that are to be loaded: it was saved for another program", path.string(),
        variables.size());
  }
  RETURN_IF_ERROR(store(scope, all, into));
  return report;
}

Result<LoadReport> load_folder(Scope& scope, const Variables& variables, const fs::path& folder, const std::string& filename,
                               Into into) {
  if (!fs::is_directory(folder)) return Status::not_found("cannot load from '{}': there is no such folder", folder.string());
  return filename.empty() ? load_files(scope, variables, folder, into) : load_combined(scope, variables, folder / filename, into);
}

Result<LoadReport> load_place(Scope& scope, const Variables& variables, const data::FolderPlace& place,
                              const std::string& filename, Into into) {
  ASSIGN_OR_RETURN(const auto folder, data::WorkingFolder::for_reading(place));
  auto report = load_folder(scope, variables, folder.path(), filename, into);
  if (!report.ok() && place.remote()) return report.status().with_context("'{}', copied to this machine", place.path);
  return report;
}

// ---- What a worker of a parameter-server job does once; see RemoteParameters::once.

// What an operation is done to. Of a store nothing but the path: the rest has a password.
std::string target_of(const data::FolderPlace& place, const std::string& filename) {
  if (place.in_object_store()) return filename.empty() ? place.path : uri_child(place.path, filename);
  return filename.empty() ? place.path : (fs::path(place.path) / filename).string();
}

// A report as an operation's answer: names that end with a zero byte, after a letter that says whose they are.
std::string to_answer(const LoadReport& report) {
  std::string answer;
  for (const std::string& name : report.loaded) answer.append("l").append(name).push_back('\0');
  for (const std::string& name : report.unused) answer.append("u").append(name).push_back('\0');
  return answer;
}

LoadReport from_answer(std::string_view answer) {
  LoadReport report;
  while (!answer.empty()) {
    const std::string_view entry = answer.substr(0, answer.find('\0'));
    answer.remove_prefix(std::min(answer.size(), entry.size() + 1));
    if (!entry.empty()) (entry[0] == 'u' ? report.unused : report.loaded).emplace_back(entry.substr(1));
  }
  return report;
}

// `save` gets the operation's number, with which it marks the folder: a process that was killed between the save and its record
// has done it.
Status save_once(const Scope& scope, const std::string& kind, const data::FolderPlace& place, const std::string& filename,
                 const std::function<Status(uint64_t number)>& save) {
  RETURN_IF_ERROR(place.check());  // before the servers are told its name
  const auto remote = scope.remote();
  if (remote == nullptr) return save(0);
  const auto body = [&](uint64_t number) -> Result<std::string> {
    const bool there = number != 0 && data::place_mark(place) == number;
    if (!there) RETURN_IF_ERROR(save(number));
    return std::string();
  };
  ASSIGN_OR_RETURN(const auto outcome, remote->once(kind, target_of(place, filename), body));
  std::error_code error;
  if (outcome.before && !place.remote() && !fs::exists(target_of(place, filename), error))
    log_warning("'{}' was saved before this worker was started again, and is not there any more; it is not saved again",
                target_of(place, filename));
  return {};
}

// A load that was done before: the servers have trained on since. What this process alone has is loaded again.
void load_own_variables(Scope& scope, const Variables& variables, const data::FolderPlace& place, const std::string& filename) {
  Variables own;
  for (const graph::VarDesc* variable : variables)
    if (!held_by_servers(scope, *variable)) own.push_back(variable);
  if (own.empty()) return;
  const auto loaded = load_place(scope, filename.empty() ? own : variables, place, filename, Into::scope_only);
  if (!loaded.ok())
    log_warning("{} variables of this worker keep what the startup program gave them: {}", own.size(), loaded.status().message());
}

Result<LoadReport> load_once(Scope& scope, const Variables& variables, const data::FolderPlace& place,
                             const std::string& filename, const std::string& target) {
  RETURN_IF_ERROR(place.check());
  const auto remote = scope.remote();
  const bool shared =
      std::any_of(variables.begin(), variables.end(), [&](const auto* variable) { return held_by_servers(scope, *variable); });
  if (!shared) return load_place(scope, variables, place, filename, Into::scope_and_servers);
  LoadReport report;
  const auto body = [&](uint64_t) -> Result<std::string> {
    ASSIGN_OR_RETURN(report, load_place(scope, variables, place, filename, Into::scope_and_servers));
    return to_answer(report);
  };
  ASSIGN_OR_RETURN(const auto outcome, remote->once("load_vars", target, body));
  if (!outcome.before) return report;
  load_own_variables(scope, variables, place, filename);
  return from_answer(outcome.answer);
}

Variables persistables_of(const graph::Program& program) {
  const auto found = program.persistables();
  return {found.begin(), found.end()};
}

}  // namespace

Result<at::Tensor> fetch_remote(RemoteParameters& remote, const std::string& name) {
  const RemoteVariable* held = remote.find(name);
  if (held == nullptr) return Status::not_found("the parameter servers of this job hold no variable '{}'", name);
  int64_t count = 1;
  for (const int64_t size : held->shape) count *= size;
  if (count < 0) {
    return Status::failed_precondition("variable '{}' has shape {}: a table without a size is no tensor; save a snapshot", name,
                                       graph::shape_to_string(held->shape));
  }
  at::Tensor tensor = at::empty(held->shape, at::kFloat);
  RETURN_IF_ERROR(remote.fetch(name, {tensor.mutable_data_ptr<float>(), static_cast<size_t>(count)}));
  return tensor;
}

Status save_vars(const Scope& scope, const Variables& variables, const data::FolderPlace& place, const std::string& filename) {
  return save_once(scope, "save_vars", place, filename, [&](uint64_t number) -> Status {
    ASSIGN_OR_RETURN(const auto folder, data::WorkingFolder::for_writing(place));
    ASSIGN_OR_RETURN(FolderWriter writer, FolderWriter::open(folder.path(), true));
    RETURN_IF_ERROR(write_vars(writer, scope, variables, filename));
    if (number != 0) writer.set_mark(number);
    RETURN_IF_ERROR(writer.commit());
    return folder.publish(number);
  });
}

Result<LoadReport> load_vars(Scope& scope, const Variables& variables, const data::FolderPlace& place,
                             const std::string& filename) {
  return load_once(scope, variables, place, filename, target_of(place, filename));
}

Status save_inference_model(const graph::Program& program, const std::vector<std::string>& feeds,
                            const std::vector<std::string>& targets, const Scope& scope, const data::FolderPlace& place,
                            const std::string& model_filename, const std::string& params_filename) {
  ASSIGN_OR_RETURN(const auto model, graph::make_inference_program(program, feeds, targets));
  return save_once(scope, "save_inference_model", place, model_filename, [&](uint64_t number) -> Status {
    ASSIGN_OR_RETURN(const auto folder, data::WorkingFolder::for_writing(place));
    ASSIGN_OR_RETURN(FolderWriter writer, FolderWriter::open(folder.path(), true));
    RETURN_IF_ERROR(writer.write(model_filename, graph::serialize_program(*model)));
    RETURN_IF_ERROR(write_vars(writer, scope, persistables_of(*model), params_filename));
    if (number != 0) writer.set_mark(number);
    RETURN_IF_ERROR(writer.commit());
    return folder.publish(number);
  });
}

Result<InferenceModel> load_inference_model(const data::FolderPlace& place, Scope& scope, const std::string& model_filename,
                                            const std::string& params_filename, const std::set<std::string>& elsewhere) {
  ASSIGN_OR_RETURN(const auto folder, data::WorkingFolder::for_reading(place));
  const fs::path file = folder.path() / model_filename;
  auto bytes = read_file(file);
  if (!bytes.ok() && place.remote()) return bytes.status().with_context("'{}', copied to this machine", place.path);
  if (!bytes.ok()) return bytes.status();
  auto program = graph::parse_program(*bytes);
  if (!program.ok()) return program.status().with_context("'{}'", file.string());
  ASSIGN_OR_RETURN(auto names, graph::inference_names(**program));
  Variables variables = persistables_of(**program);
  if (params_filename.empty()) std::erase_if(variables, [&](const auto* variable) { return elsewhere.contains(variable->name); });
  if (variables.empty()) return InferenceModel{*program, std::move(names.feeds), std::move(names.fetches)};
  RETURN_IF_ERROR(load_once(scope, variables, folder.path(), params_filename, target_of(place, params_filename)).status());
  for (const std::string& name : elsewhere) scope.erase(name);
  return InferenceModel{*program, std::move(names.feeds), std::move(names.fetches)};
}

}  // namespace argosy::engine
