#include "argosy/graph/layers/nn.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

// Functions on features of click-through models.
namespace argosy::python {

using graph::Variable;

void bind_layers_feature(py::module_& m) {
  m.def("continuous_value_model", &layers::continuous_value_model, py::arg("input"), py::arg("cvm"), py::arg("use_cvm") = true);
}

}  // namespace argosy::python
