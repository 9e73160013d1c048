#include "argosy/graph/layers/nn.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

// Functions on features of click-through models.
namespace argosy::python {

using graph::Variable;

void bind_layers_feature(py::module_& m) {
  m.def("continuous_value_model", &layers::continuous_value_model, py::arg("input"), py::arg("cvm"), py::arg("use_cvm") = true,
        R"(Rows that begin with shows and clicks: with use_cvm their logarithms, otherwise without them.

    >>> rows, cvm = fluid.data("rows", [None, 6]), fluid.data("cvm", [None, 2])
    >>> fluid.layers.continuous_value_model(rows, cvm, use_cvm=False).shape
    (-1, 4)
    )");
}

}  // namespace argosy::python
