#include "argosy/graph/initializer.h"
#include "argosy/graph/program.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"
#include "argosy/python/handles.h"

namespace argosy::python {

using graph::Initializer;
using graph::ParamAttr;

namespace {

ParamAttr make_param_attr(const std::optional<std::string>& name, std::optional<Initializer> initializer, float learning_rate,
                          std::optional<optim::Regularization> regularizer, bool trainable, std::optional<bool> do_model_average,
                          std::optional<optim::GradientClip> gradient_clip, bool need_clip) {
  ParamAttr attr;
  if (name) attr.name = *name;
  attr.initializer = std::move(initializer);
  attr.learning_rate = learning_rate;
  attr.regularizer = regularizer;
  attr.gradient_clip = std::move(gradient_clip);
  attr.trainable = trainable;
  attr.need_clip = need_clip;
  attr.do_model_average = do_model_average;
  return attr;
}

void append_init_op(const Initializer& initializer, const graph::Variable& variable, const BlockHandle& block) {
  value_or_throw(block.block->append_op(graph::init_op(initializer, variable.desc(), *block.block)));
}

}  // namespace

void bind_parameter(py::module_& m) {
  py::class_<Initializer>(m, "Initializer", R"(How a parameter gets its first values.

    >>> isinstance(fluid.initializer.Constant(0.5), fluid.initializer.Initializer)
    True
    )")
      .def(py::init<const Initializer&>())
      .def_readonly("seed", &Initializer::seed)
      .def("__call__", &append_init_op, py::arg("var"), py::arg("block"),
           "Adds the operator that writes the first values of `var`.");
  m.def("constant_initializer", &graph::constant_initializer, py::arg("value"));
  m.def("uniform_initializer", &graph::uniform_initializer, py::arg("low"), py::arg("high"), py::arg("seed"));
  m.def("normal_initializer", &graph::normal_initializer, py::arg("mean"), py::arg("deviation"), py::arg("seed"));
  m.def("truncated_normal_initializer", &graph::truncated_normal_initializer, py::arg("mean"), py::arg("deviation"),
        py::arg("seed"));
  m.def("xavier_initializer", &graph::xavier_initializer, py::arg("uniform"), py::arg("fan_in"), py::arg("fan_out"),
        py::arg("seed"));
  m.def("msra_initializer", &graph::msra_initializer, py::arg("uniform"), py::arg("fan_in"), py::arg("seed"),
        py::arg("gain") = 0.0);
  m.def("values_initializer", &graph::values_initializer, py::arg("values"));

  py::class_<ParamAttr>(m, "ParamAttr", "How a layer's parameter is made; everything may be left out.")
      .def(py::init(&make_param_attr), py::arg("name") = py::none(), py::arg("initializer") = py::none(),
           py::arg("learning_rate") = 1.0f, py::arg("regularizer") = py::none(), py::arg("trainable") = true,
           py::arg("do_model_average") = py::none(), py::arg("gradient_clip") = py::none(), py::arg("need_clip") = true)
      .def_property(
          "name", [](const ParamAttr& a) { return a.name.empty() ? py::object(py::none()) : py::str(a.name); },
          [](ParamAttr& a, const std::optional<std::string>& name) { a.name = name.value_or(""); })
      .def_readwrite("initializer", &ParamAttr::initializer)
      .def_readwrite("learning_rate", &ParamAttr::learning_rate)
      .def_readwrite("regularizer", &ParamAttr::regularizer)
      .def_readwrite("gradient_clip", &ParamAttr::gradient_clip)
      .def_readwrite("trainable", &ParamAttr::trainable)
      .def_readwrite("need_clip", &ParamAttr::need_clip)
      .def_property(
          "do_model_average", [](const ParamAttr& a) { return a.do_model_average.value_or(true); },
          [](ParamAttr& a, bool average) { a.do_model_average = average; });
}

}  // namespace argosy::python
