#include "argosy/python/numpy_array.h"

#include <ATen/ATen.h>

#include "argosy/base/error.h"
#include "argosy/python/casters.h"

namespace argosy::python {
namespace {

// The dtype of an array that was given without one.
graph::DType dtype_of_array(const py::array& array) {
  const char kind = array.dtype().kind();
  if (kind == 'b' || kind == 'i' || kind == 'u' || kind == 'f') {
    if (const auto known = graph::parse_dtype(py::str(array.dtype().attr("name")).cast<std::string>())) return *known;
  }
  throw Error(Status::invalid_argument(
      "an array of {} cannot be used as a tensor; convert it with .astype('float32') or .astype('int64')",
      py::str(array.dtype()).cast<std::string>()));
}

py::array as_array(const py::object& data, std::optional<graph::DType> dtype) {
  const py::module_ numpy = py::module_::import("numpy");
  try {
    return dtype ? numpy.attr("asarray")(data, numpy_dtype(*dtype)) : numpy.attr("asarray")(data);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_TypeError)) throw;
    throw Error(Status::invalid_argument("a {} is not an array of numbers: {}", type_name(data),
                                         py::str(error.value()).cast<std::string>()));
  }
}

}  // namespace

py::dtype numpy_dtype(graph::DType dtype) {
  if (dtype == graph::DType::bfloat16) dtype = graph::DType::float32;
  return py::dtype(std::string(graph::dtype_name(dtype)));
}

at::Tensor tensor_from_python(const py::object& data, std::optional<graph::DType> dtype) {
  py::array array = as_array(data, dtype);
  const graph::DType found = dtype ? *dtype : dtype_of_array(array);
  array = py::module_::import("numpy").attr("ascontiguousarray")(array, numpy_dtype(found)).attr("reshape")(array.attr("shape"));
  const std::vector<int64_t> shape(array.shape(), array.shape() + array.ndim());
  const graph::DType stored = found == graph::DType::bfloat16 ? graph::DType::float32 : found;
  at::Tensor tensor = at::empty(shape, at::TensorOptions(engine::scalar_type(stored)));
  if (tensor.nbytes() > 0) std::memcpy(tensor.mutable_data_ptr(), array.data(), tensor.nbytes());
  return stored == found ? tensor : tensor.to(engine::scalar_type(found));
}

py::array array_from_value(const engine::Value& value) {
  if (!value.defined()) throw Error(Status::failed_precondition("the tensor holds nothing yet"));
  at::Tensor tensor = value.rows != nullptr ? value.rows->to_dense() : value.tensor;
  if (!tensor.is_cpu()) tensor = tensor.cpu();
  if (tensor.scalar_type() == at::kBFloat16) tensor = tensor.to(at::kFloat);
  const bool alone = tensor.is_contiguous() && tensor.storage().use_count() == 1 && value.tensor.use_count() <= 2;
  if (!alone) tensor = tensor.clone(at::MemoryFormat::Contiguous);
  auto owner = std::make_unique<at::Tensor>(tensor.detach());
  const py::capsule base(owner.get(), [](void* kept) { delete static_cast<at::Tensor*>(kept); });
  const at::Tensor& kept = *owner.release();
  return py::array(numpy_dtype(engine::dtype_of(kept)), kept.sizes().vec(), kept.mutable_data_ptr(), base);
}

}  // namespace argosy::python
