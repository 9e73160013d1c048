#include "argosy/graph/backward.h"
#include "argosy/graph/build.h"
#include "argosy/graph/minimize.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

namespace argosy::python {

using graph::MinimizeOptions;
using graph::ParamGrad;
using graph::Variable;

namespace {

using Pairs = std::vector<std::pair<Variable, Variable>>;

Pairs to_pairs(const std::vector<ParamGrad>& params_grads) {
  Pairs pairs;
  for (const ParamGrad& pair : params_grads) pairs.emplace_back(pair.param, pair.grad);
  return pairs;
}

std::vector<ParamGrad> from_pairs(const Pairs& pairs) {
  std::vector<ParamGrad> params_grads;
  for (const auto& [param, grad] : pairs) {
    if (!param.desc().is_parameter()) throw Error(Status::invalid_argument("variable '{}' is not a parameter", param.name()));
    params_grads.push_back({param, grad});
  }
  return params_grads;
}

// (params_grads, learning rate)
auto apply_gradients(const optim::Optimizer& optimizer, const Pairs& pairs, std::shared_ptr<graph::Program> startup,
                     const std::optional<Variable>& learning_rate) {
  MinimizeOptions options;
  options.startup_program = std::move(startup);
  if (learning_rate) options.learning_rate = *learning_rate;
  const auto result = graph::apply_gradients(optimizer, from_pairs(pairs), options);
  return std::make_pair(to_pairs(result.params_grads), result.learning_rate);
}

void bind_backward(py::module_& m) {
  m.def(
      "append_backward",
      [](const Variable& loss, const std::vector<std::string>& parameter_list, const std::set<std::string>& no_grad_set,
         const std::vector<std::string>& checkpoints) {
        return to_pairs(graph::append_backward(loss, parameter_list, no_grad_set, checkpoints));
      },
      py::arg("loss"), py::arg("parameter_list"), py::arg("no_grad_set"), py::arg("checkpoints"));
  m.def("gradients", &graph::gradients, py::arg("targets"), py::arg("inputs"), py::arg("target_gradients"),
        py::arg("no_grad_set"));
  m.def("apply_gradients", &apply_gradients, py::arg("optimizer"), py::arg("params_grads"), py::arg("startup_program"),
        py::arg("learning_rate"));
  m.def("learning_rate_variable", &graph::learning_rate_variable, py::arg("schedule"));
  m.def("step_counter", &graph::step_counter);
}

}  // namespace

void bind_build(py::module_& m) {
  m.def(
      "to_dtype", [](graph::DType dtype) { return dtype; }, py::arg("value"),
      "The VarType of anything that stands for an element type.");
  m.def("default_main_program", &graph::default_main_program, R"(The program that layer functions add to.

    >>> x = fluid.data("x", [None, 4])
    >>> fluid.default_main_program().global_block().has_var("x")
    True
    )");
  m.def("default_startup_program", &graph::default_startup_program,
        R"(The program that makes the parameters' first values; it is run once.

    >>> _ = fluid.layers.fc(fluid.data("x", [None, 4]), 2)
    >>> _ = fluid.Executor().run(fluid.default_startup_program())
    )");
  m.def("switch_main_program", &graph::switch_main_program, py::arg("program").none(false));
  m.def("switch_startup_program", &graph::switch_startup_program, py::arg("program").none(false));
  py::class_<graph::UniqueNames, std::shared_ptr<graph::UniqueNames>>(m, "UniqueNames", "Counters by key.")
      .def(py::init<std::string>(), py::arg("prefix") = "")
      .def("generate", &graph::UniqueNames::generate, py::arg("key"));
  m.def("unique_name", &graph::unique_name, py::arg("key"));
  m.def("switch_unique_names", &graph::switch_unique_names, py::arg("names").none(false));
  bind_backward(m);
}

}  // namespace argosy::python
