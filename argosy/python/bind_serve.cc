#include "argosy/base/error.h"
#include "argosy/graph/wire.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"
#include "argosy/python/interrupt.h"
#include "argosy/python/numpy_array.h"
#include "argosy/serve/predict/predictor.h"
#include "argosy/serve/sources/job_source.h"

namespace argosy::python {
namespace {

using serve::Predictor;
using serve::Tensor;
using Lod = std::vector<std::vector<int64_t>>;

// The array itself, kept for as long as the tensor lives. REQUIRES: nobody changes it meanwhile.
Tensor tensor_of(const py::array& given, const Lod& lod) {
  const py::array array = py::module_::import("numpy").attr("require")(given, py::none(), "C");
  const auto dtype = graph::parse_dtype(py::str(array.dtype().attr("name")).cast<std::string>());
  if (!dtype)
    throw Error(Status::invalid_argument("an array of {} cannot be an input of a model; convert it with .astype('float32')",
                                         py::str(array.dtype()).cast<std::string>()));
  Tensor tensor{.dtype = *dtype, .shape = {array.shape(), array.shape() + array.ndim()}, .lod = lod, .data = nullptr};
  const auto release = [](PyObject* object) {
    const py::gil_scoped_acquire gil;
    Py_DECREF(object);
  };
  const std::shared_ptr<PyObject> kept(array.inc_ref().ptr(), release);
  tensor.data = std::shared_ptr<const void>(kept, array.data());
  return tensor;
}

// A copy: callers may write into what they get.
py::tuple to_python(const Tensor& tensor) {
  py::array array(numpy_dtype(tensor.dtype), tensor.shape);
  if (static_cast<size_t>(array.nbytes()) != tensor.bytes())
    throw Error(Status::unimplemented("a tensor of {} has no NumPy form", graph::dtype_name(tensor.dtype)));
  if (tensor.bytes() > 0) std::memcpy(array.mutable_data(), tensor.data.get(), tensor.bytes());
  return py::make_tuple(array, tensor.lod);
}

py::list run(const Predictor& predictor, const std::map<std::string, std::pair<py::array, Lod>>& inputs) {
  serve::Inputs given;
  for (const auto& [name, input] : inputs) given.emplace(name, tensor_of(input.first, input.second));
  std::vector<Tensor> outputs;
  run_without_gil([&] {
    outputs = value_or_throw(predictor.run(given));
    given.clear();
  });
  py::list found;
  for (const Tensor& output : outputs) found.append(to_python(output));
  return found;
}

Predictor open(const std::string& model, const std::string& params, int threads, bool fuse, bool bfloat16_matmul, int gpu,
               const std::vector<std::string>& servers, const std::string& token, double wait_seconds, double refresh_seconds) {
  serve::PredictorOptions options{
      .threads = threads, .fuse = fuse, .bfloat16_matmul = bfloat16_matmul, .gpu = gpu, .refresh_seconds = refresh_seconds};
  const py::gil_scoped_release release;
  if (!servers.empty()) {
    options.source =
        value_or_throw(serve::connect_job_source({.endpoints = servers, .token = token, .wait_seconds = wait_seconds}));
  }
  if (params.empty()) return value_or_throw(Predictor::open(std::filesystem::path(model), options));
  return value_or_throw(Predictor::open(graph::ModelFiles{model, params}, options));
}

py::list infos(const std::vector<serve::TensorInfo>& described) {
  py::list found;
  for (const auto& info : described)
    found.append(py::make_tuple(info.name, std::string(graph::dtype_name(info.dtype)), info.shape, info.lod_level));
  return found;
}

}  // namespace

void bind_serve(py::module_& m) {
  py::class_<Predictor>(m, "Predictor", "A saved model, ready to predict. Thread-safe; clones share its parameters.")
      .def(py::init(&open), py::arg("model"), py::arg("params") = "", py::arg("threads") = 1, py::arg("fuse") = true,
           py::arg("bfloat16_matmul") = false, py::arg("gpu") = -1, py::arg("servers") = std::vector<std::string>(),
           py::arg("token") = "", py::arg("wait_seconds") = 2.0, py::arg("refresh_seconds") = 0.1)
      .def("run", &run, py::arg("inputs"), "{name: (array, lod)} becomes [(array, lod), …], in the order of outputs().")
      .def(
          "inputs", [](const Predictor& self) { return infos(self.inputs()); }, "[(name, dtype, shape, lod_level), …]")
      .def(
          "outputs", [](const Predictor& self) { return infos(self.outputs()); }, "[(name, dtype, shape, lod_level), …]")
      .def(
          "parameters",
          [](const Predictor& self) {
            py::dict found;
            for (const auto& [name, tensor] : value_or_throw(self.parameters())) found[py::str(name)] = to_python(tensor)[0];
            return found;
          },
          "{name: a copy of its values}")
      .def(
          "origins",
          [](const Predictor& self) {
            py::list found;
            for (const auto& origin : self.origins()) found.append(py::make_tuple(origin.address, origin.version, origin.text));
            return found;
          },
          "[(address, version, text), …] of the servers that parameters come from.")
      .def("program_bytes", [](const Predictor& self) { return py::bytes(graph::serialize_program(self.program())); })
      .def("clone", &Predictor::clone);
}

}  // namespace argosy::python
