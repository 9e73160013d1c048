#include "argosy/base/error.h"
#include "argosy/graph/wire.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"
#include "argosy/python/interrupt.h"
#include "argosy/python/numpy_array.h"
#include "argosy/serve/predict/predictor.h"
#include "argosy/serve/redis/redis_source.h"
#include "argosy/serve/sources/job_source.h"

namespace argosy::python {
namespace {

using serve::Predictor;
using serve::Tensor;

// What an array's elements are, without a call of Python's. Nothing: they are no elements of a tensor.
std::optional<graph::DType> element_type(const py::dtype& dtype) {
  using graph::DType;
  switch (dtype.kind()) {
    case 'b': return DType::boolean;
    case 'u': return dtype.itemsize() == 1 ? std::optional(DType::uint8) : std::nullopt;
    case 'i':
      switch (dtype.itemsize()) {
        case 1: return DType::int8;
        case 2: return DType::int16;
        case 4: return DType::int32;
        default: return DType::int64;
      }
    case 'f':
      switch (dtype.itemsize()) {
        case 2: return DType::float16;
        case 4: return DType::float32;
        case 8: return DType::float64;
        default: return std::nullopt;
      }
    default: return graph::parse_dtype(py::str(dtype.attr("name")).cast<std::string>());
  }
}

// The array itself where its elements lie one after another in the machine's order of bytes, or else a copy in which they do.
py::array in_order(const py::array& given) {
  const bool native = given.dtype().byteorder() != '>';
  if (native && (given.flags() & py::array::c_style) != 0) return given;
  return py::module_::import("numpy").attr("require")(given, given.dtype().attr("newbyteorder")("="), "C");
}

// The array itself where it can be, kept for as long as the tensor lives. REQUIRES: nobody changes it meanwhile.
Tensor tensor_of(const py::array& given) {
  const auto dtype = element_type(given.dtype());
  if (!dtype)
    throw Error(Status::invalid_argument("an array of {} cannot be an input of a model; convert it with .astype('float32')",
                                         py::str(given.dtype()).cast<std::string>()));
  const py::array array = in_order(given);
  Tensor tensor{.dtype = *dtype, .shape = {array.shape(), array.shape() + array.ndim()}, .lod = {}, .data = nullptr};
  const auto release = [](PyObject* object) {
    const py::gil_scoped_acquire gil;
    Py_DECREF(object);
  };
  const std::shared_ptr<PyObject> kept(array.inc_ref().ptr(), release);
  tensor.data = std::shared_ptr<const void>(kept, array.data());
  return tensor;
}

// Offsets of one level: an array of int64 is copied as it lies, any other sequence number by number.
std::vector<int64_t> offsets_of(const py::handle& level) {
  if (py::isinstance<py::array_t<int64_t>>(level)) {
    const auto offsets = py::reinterpret_borrow<py::array>(level);
    if (offsets.ndim() == 1 && (offsets.flags() & py::array::c_style) != 0) {
      const auto* first = static_cast<const int64_t*>(offsets.data());
      return {first, first + offsets.size()};
    }
  }
  try {
    return level.cast<std::vector<int64_t>>();
  } catch (const py::cast_error&) {
    throw Error(Status::invalid_argument("a level of sequence boundaries is a {}; expected offsets, as a list of integers",
                                         type_name(level)));
  }
}

// Whether it is (array, list).
bool is_input(const py::handle& given) {
  if (!py::isinstance<py::tuple>(given) || py::len(given) != 2) return false;
  const auto pair = py::reinterpret_borrow<py::tuple>(given);
  return py::isinstance<py::array>(pair[0]) && py::isinstance<py::list>(pair[1]);
}

Tensor input_of(const std::string& name, const py::handle& given) {
  if (!is_input(given))
    throw Error(Status::invalid_argument("input '{}' is a {}; expected (array, lod), the lod [] where there are no sequences",
                                         name, type_name(given)));
  const py::tuple pair = py::reinterpret_borrow<py::tuple>(given);
  Tensor tensor = tensor_of(py::reinterpret_borrow<py::array>(pair[0]));
  for (const py::handle level : py::reinterpret_borrow<py::list>(pair[1])) tensor.lod.push_back(offsets_of(level));
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

py::list run(const Predictor& predictor, const py::dict& inputs) {
  serve::Inputs given;
  for (const auto& [name, input] : inputs) {
    const auto key = name.cast<std::string>();
    given.emplace(key, input_of(key, input));
  }
  std::vector<Tensor> outputs;
  run_without_gil([&] { outputs = value_or_throw(predictor.run(given)); });
  py::list found;
  for (const Tensor& output : outputs) found.append(to_python(output));
  return found;
}

Predictor open(const std::string& model, const std::string& params, int threads, bool fuse, bool bfloat16_matmul, int gpu,
               const std::vector<std::string>& servers, const std::string& token, double wait_seconds, double refresh_seconds,
               const std::string& redis) {
  serve::PredictorOptions options{
      .threads = threads, .fuse = fuse, .bfloat16_matmul = bfloat16_matmul, .gpu = gpu, .refresh_seconds = refresh_seconds};
  const py::gil_scoped_release release;
  if (!servers.empty()) {
    options.source =
        value_or_throw(serve::connect_job_source({.endpoints = servers, .token = token, .wait_seconds = wait_seconds}));
  }
  if (!redis.empty()) {
    serve::RedisSourceOptions published = value_or_throw(serve::parse_redis_url(redis));
    published.wait_seconds = wait_seconds;
    options.source = value_or_throw(serve::connect_redis_source(published));
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
           py::arg("token") = "", py::arg("wait_seconds") = 2.0, py::arg("refresh_seconds") = 0.1, py::arg("redis") = "")
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
