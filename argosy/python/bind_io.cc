#include <exception>

#include "argosy/base/error.h"
#include "argosy/base/uri.h"
#include "argosy/data/object_store.h"
#include "argosy/data/store_uri.h"
#include "argosy/data/working_folder.h"
#include "argosy/engine/program/model_io.h"
#include "argosy/engine/remote/remote_parameters.h"
#include "argosy/graph/tensor_file.h"
#include "argosy/graph/variable.h"
#include "argosy/inspect/tensor_facts.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"
#include "argosy/python/interrupt.h"
#include "argosy/python/numpy_array.h"

namespace argosy::python {

using engine::Scope;
using graph::Variable;

namespace {

std::vector<const graph::VarDesc*> descriptions(const std::vector<Variable>& variables) {
  std::vector<const graph::VarDesc*> found;
  for (const Variable& variable : variables) found.push_back(&variable.desc());
  return found;
}

py::dict to_dict(const engine::LoadReport& report) {
  py::dict found;
  found["loaded"] = report.loaded;
  found["unused"] = report.unused;
  return found;
}

void save_vars(const Scope& scope, const std::vector<Variable>& variables, const std::string& folder, const Text& filename,
               const std::string& fs_name, const std::string& fs_ugi) {
  const auto wanted = descriptions(variables);
  const data::FolderPlace place(folder, {.fs_name = fs_name, .fs_ugi = fs_ugi});
  run_without_gil([&] { throw_if_error(engine::save_vars(scope, wanted, place, filename)); });
}

py::dict load_vars(Scope& scope, const std::vector<Variable>& variables, const std::string& folder, const Text& filename,
                   const std::string& fs_name, const std::string& fs_ugi) {
  const auto wanted = descriptions(variables);
  const data::FolderPlace place(folder, {.fs_name = fs_name, .fs_ugi = fs_ugi});
  engine::LoadReport report;
  run_without_gil([&] { report = value_or_throw(engine::load_vars(scope, wanted, place, filename)); });
  return to_dict(report);
}

void save_inference_model(const graph::Program& program, const std::vector<std::string>& feeds,
                          const std::vector<std::string>& targets, const Scope& scope, const std::string& folder,
                          const std::string& model_filename, const Text& params_filename) {
  run_without_gil([&] {
    throw_if_error(engine::save_inference_model(program, feeds, targets, scope, folder, model_filename, params_filename));
  });
}

py::tuple load_inference_model(const std::string& folder, Scope& scope, const std::string& model_filename,
                               const Text& params_filename) {
  engine::InferenceModel model;
  {
    const py::gil_scoped_release release;
    model = value_or_throw(engine::load_inference_model(folder, scope, model_filename, params_filename));
  }
  return py::make_tuple(model.program, model.feeds, model.fetches);
}

// Calls `body`, where this process is a worker of a parameter-server job once: RemoteParameters::once. False: it had been done.
bool once(const Scope& scope, const std::string& kind, const std::string& target, const py::function& body) {
  const auto remote = scope.remote();
  if (remote == nullptr) {
    body();
    return true;
  }
  std::exception_ptr raised;
  const auto call = [&](uint64_t) -> Result<std::string> {
    const py::gil_scoped_acquire gil;
    try {
      body();
    } catch (...) {
      raised = std::current_exception();
      return Status::cancelled("{} '{}' was not done", kind, target);
    }
    return std::string();
  };
  bool before = false;
  run_without_gil([&] {
    const auto outcome = remote->once(kind, target, call);
    if (raised == nullptr) before = value_or_throw(outcome).before;
  });
  if (raised != nullptr) std::rethrow_exception(raised);
  return !before;
}

// The whole file or none of it: a kill leaves the old one.
void write_file(const std::string& path, const py::buffer& data) {
  const py::buffer_info bytes = data.request();
  const std::string_view view(static_cast<const char*>(bytes.ptr), static_cast<size_t>(bytes.size * bytes.itemsize));
  const py::gil_scoped_release release;
  throw_if_error(data::write_place(path, view));
}

py::bytes bytes_at(const std::string& path) {
  std::string bytes;
  run_without_gil([&] { bytes = value_or_throw(data::read_place(path)); });
  return bytes;
}

// What lies at the URI of a store.
std::string kind_at(const std::string& uri) {
  Result<data::ObjectInfo> found = Status::not_found("");
  run_without_gil([&] { found = data::object_info(uri); });
  if (found.status().code() == Code::not_found) return "none";
  return value_or_throw(found).folder ? "folder" : "object";
}

py::tuple parts_of_uri(const std::string& uri) {
  const UriParts parts = split_uri(uri);
  return py::make_tuple(parts.folder, parts.name);
}

std::vector<std::string> files_matching(const std::string& pattern) {
  std::vector<std::string> found;
  run_without_gil([&] { found = value_or_throw(data::matching_files(pattern)); });
  return found;
}

// The array in the bytes of a tensor file.
py::array decode_tensor(const std::string& bytes) {
  const graph::TensorFile file = value_or_throw(graph::decode_tensor(bytes));
  py::array array(numpy_dtype(file.dtype), file.shape);
  if (static_cast<size_t>(array.nbytes()) != file.bytes.size()) {
    throw Error(Status::unimplemented("a tensor of {} has no NumPy form", graph::dtype_name(file.dtype)));
  }
  std::memcpy(array.mutable_data(), file.bytes.data(), file.bytes.size());
  return array;
}

// REQUIRES: its elements lie one after another in the machine's order of bytes. It outlives what is returned.
graph::TensorFile tensor_file_of(const py::array& array) {
  const auto dtype = graph::parse_dtype(py::str(array.dtype().attr("name")).cast<std::string>());
  if (!dtype) throw Error(Status::unimplemented("an array of {} is no tensor", py::str(array.dtype()).cast<std::string>()));
  return {.dtype = *dtype,
          .shape = {array.shape(), array.shape() + array.ndim()},
          .lod = {},
          .bytes = {static_cast<const char*>(array.data()), static_cast<size_t>(array.nbytes())}};
}

}  // namespace

void bind_io(py::module_& m) {
  m.def("save_vars", &save_vars, py::arg("scope"), py::arg("variables"), py::arg("folder"), py::arg("filename"),
        py::arg("fs_name") = "", py::arg("fs_ugi") = "");
  m.def("load_vars", &load_vars, py::arg("scope"), py::arg("variables"), py::arg("folder"), py::arg("filename"),
        py::arg("fs_name") = "", py::arg("fs_ugi") = "");
  m.def("save_inference_model", &save_inference_model, py::arg("program"), py::arg("feeds"), py::arg("targets"), py::arg("scope"),
        py::arg("folder"), py::arg("model_filename"), py::arg("params_filename"));
  m.def("load_inference_model", &load_inference_model, py::arg("folder"), py::arg("scope"), py::arg("model_filename"),
        py::arg("params_filename"));
  m.def("once", &once, py::arg("scope"), py::arg("kind"), py::arg("target"), py::arg("body"),
        "Calls body; on a worker of a parameter-server job not where an earlier start of it had done so. Whether it was called.");
  m.def(
      "ledger",
      [](const Scope& s) {
        std::string text;
        if (const auto remote = s.remote()) run_without_gil([&] { text = value_or_throw(remote->ledger()); });
        return text;
      },
      py::arg("scope"), "What the servers' values were trained on, as JSON; empty where no servers hold them.");
  m.def("write_file", &write_file, py::arg("path"), py::arg("data"));
  m.def("read_file", &bytes_at, py::arg("path"));
  m.def("is_store_uri", &data::is_store_uri, py::arg("path"));
  m.def(
      "check_place",
      [](const std::string& path) {
        if (is_uri(path)) throw_if_error(data::check_store_uri(path));
      },
      py::arg("path"),
      "Nothing for a path or the URI of a store; an error for any other URI, which would become a local folder of that name.");
  m.def("local_path", &local_path, py::arg("path"));
  m.def("object_kind", &kind_at, py::arg("uri"), "'object', 'folder' or 'none'.");
  m.def("split_uri", &parts_of_uri, py::arg("uri"), "(the folder's URI, the last name).");
  m.def("uri_child", &uri_child, py::arg("uri"), py::arg("name"));
  m.def("matching_files", &files_matching, py::arg("pattern"));
  m.def("decode_tensor", &decode_tensor, py::arg("bytes"));
  m.def(
      "tensor_line", [](const py::array& array) { return inspect::facts_of(tensor_file_of(array)).line(); }, py::arg("array"),
      "What a person wants to know of a contiguous array, as `argosy inspect` says it.");
  m.def(
      "tensor_difference",
      [](const py::array& a, const py::array& b) { return inspect::difference_of(tensor_file_of(a), tensor_file_of(b)); },
      py::arg("a"), py::arg("b"), "How the second differs from the first; empty: not at all.");
}

}  // namespace argosy::python
