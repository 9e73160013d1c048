#pragma once

#include <pybind11/numpy.h>

#include <memory>
#include <optional>
#include <string>

#include "argosy/engine/program/scope.h"
#include "argosy/engine/program/value.h"
#include "argosy/engine/remote/remote_parameters.h"
#include "argosy/graph/dtype.h"

// Values of the engine as NumPy arrays and back. Data crosses as buffers: torch's Python package is not needed.
namespace argosy::python {

namespace py = pybind11;

// The value of a variable as Python sees it (LoDTensor): one of its own, or that of a scope, which it then keeps alive, or a
// copy of what parameter servers hold. What is set goes to the servers too where they hold the variable. Thread-compatible.
struct TensorHandle {
  std::shared_ptr<engine::Value> value = std::make_shared<engine::Value>();
  std::shared_ptr<engine::RemoteParameters> remote = nullptr;  // null: no servers hold it
  std::string name = {};                                      // with them
};

// A copy of anything that numpy.asarray takes, with `dtype` where given.
at::Tensor tensor_from_python(const py::object& data, std::optional<graph::DType> dtype = std::nullopt);

// An array of the value's own memory where nobody else has it, a copy otherwise; rows become a dense array. bfloat16, which
// NumPy lacks, becomes float32.
py::array array_from_value(const engine::Value& value);

py::dtype numpy_dtype(graph::DType dtype);

}  // namespace argosy::python
