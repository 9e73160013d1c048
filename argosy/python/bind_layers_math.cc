#include "argosy/graph/layers/activation.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

// Functions of elements that are more than one operator: the arguments as fluid.layers has them.
namespace argosy::python {

using graph::Variable;

void bind_layers_math(py::module_& m) {
  m.def(
      "log_softmax",
      [](const Variable& input, std::optional<int32_t> axis, const py::object& dtype, const Text& name) {
        const auto wanted = dtype.is_none() ? std::nullopt : std::optional(dtype_from_python(dtype));
        return layers::log_softmax(input, axis.value_or(-1), wanted, name);
      },
      py::arg("input"), py::arg("axis") = py::none(), py::arg("dtype") = py::none(), py::arg("name") = py::none(),
      R"(The logarithm of softmax along an axis.

    >>> x = fluid.data("x", [None, 4])
    >>> y = fluid.layers.log_softmax(x)
    )");
}

}  // namespace argosy::python
