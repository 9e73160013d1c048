#include <exception>

#include "argosy/base/error.h"
#include "argosy/base/file.h"
#include "argosy/engine/program/model_io.h"
#include "argosy/engine/remote/remote_parameters.h"
#include "argosy/graph/tensor_file.h"
#include "argosy/graph/variable.h"
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
  throw_if_error(write_file_atomically(path, view));
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
  m.def("write_file", &write_file, py::arg("path"), py::arg("data"));
  m.def("decode_tensor", &decode_tensor, py::arg("bytes"));
}

}  // namespace argosy::python
