#include "argosy/engine/model_io.h"
#include "argosy/graph/tensor_file.h"
#include "argosy/graph/variable.h"
#include "argosy/python/array.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"
#include "argosy/python/interrupt.h"

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
  m.def("decode_tensor", &decode_tensor, py::arg("bytes"));
}

}  // namespace argosy::python
