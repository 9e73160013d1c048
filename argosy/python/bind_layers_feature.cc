#include "argosy/graph/layers/nn.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

// Functions on features of click-through models.
namespace argosy::python {

using graph::Variable;

void bind_layers_feature(py::module_& m) {
  m.def("continuous_value_model", &layers::continuous_value_model, py::arg("input"), py::arg("cvm"), py::arg("use_cvm") = true);
  m.def(
      "hash",
      [](const Variable& input, int64_t hash_size, int32_t num_hash, const Text& name) {
        return layers::hash(input, hash_size, num_hash, name);
      },
      py::arg("input"), py::arg("hash_size"), py::arg("num_hash") = 1, py::arg("name") = py::none());
}

}  // namespace argosy::python
