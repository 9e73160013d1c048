#include <torch/csrc/utils/pybind.h>

#include "argosy/engine/ops/tensor_rule.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

// The update rules on torch's tensors: what the dynamic graph's optimizers call. Tensors come from torch's Python package, which
// the caller has loaded.
namespace argosy::python {

using optim::Rule;
using optim::StateSlot;

namespace {

py::list rule_states(const Rule& rule, StateSlot::Shape shape) {
  py::list found;
  for (const StateSlot& slot : rule.states()) {
    if (slot.shape == shape) found.append(py::make_tuple(std::string(slot.suffix), slot.initial));
  }
  return found;
}

std::vector<float> step_rule(const Rule& rule, float rate, std::vector<float> scalars, std::vector<at::Tensor> values,
                             std::vector<at::Tensor> gradients, std::vector<std::vector<at::Tensor>> states) {
  const engine::TensorUpdate update{std::move(values), std::move(gradients), std::move(states)};
  py::gil_scoped_release release;
  throw_if_error(engine::step_tensors(rule, rate, scalars, update));
  return scalars;
}

}  // namespace

void bind_rules(py::module_& m) {
  py::class_<Rule>(m, "Rule", "An update rule with its numbers, for lists of tensors.")
      .def(py::init([](const std::string& name, const optim::HyperParameters& hyper_parameters) {
             return value_or_throw(optim::make_rule(name, hyper_parameters));
           }),
           py::arg("name"), py::arg("hyper_parameters"))
      .def_property_readonly(
          "accumulators", [](const Rule& rule) { return rule_states(rule, StateSlot::element); },
          "[(name, first value)] of what it keeps of each element.")
      .def_property_readonly(
          "scalars", [](const Rule& rule) { return rule_states(rule, StateSlot::scalar); },
          "[(name, first value)] of what it keeps of a parameter as a whole.")
      .def("step", &step_rule, py::arg("rate"), py::arg("scalars"), py::arg("values"), py::arg("gradients"), py::arg("states"),
           "Moves `values` in place; states has a list for each accumulator. Returns the next scalars.");
}

}  // namespace argosy::python
