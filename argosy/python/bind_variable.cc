#include "argosy/graph/print.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"
#include "argosy/python/handles.h"

namespace argosy::python {

using graph::ParameterInfo;
using graph::Variable;

namespace {

ParameterInfo& info(const Parameter& parameter) { return *parameter.desc().parameter; }

void bind_parameter_class(py::module_& m) {
  py::class_<Parameter, Variable, std::shared_ptr<Parameter>>(m, "Parameter", R"(A variable that training changes.

    >>> _ = fluid.layers.fc(fluid.data("x", [None, 4]), 2)
    >>> [parameter.shape for parameter in fluid.default_main_program().all_parameters()]
    [(4, 2), (2,)]
    )")
      .def_property(
          "trainable", [](const Parameter& p) { return info(p).trainable; },
          [](const Parameter& p, bool value) { info(p).trainable = value, p.program()->touch(); })
      .def_property(
          "regularizer", [](const Parameter& p) { return info(p).regularizer; },
          [](const Parameter& p, std::optional<optim::Regularization> value) { info(p).regularizer = value; })
      .def_property(
          "gradient_clip_attr", [](const Parameter& p) { return info(p).gradient_clip; },
          [](const Parameter& p, std::optional<optim::GradientClip> value) { info(p).gradient_clip = std::move(value); })
      .def_property(
          "need_clip", [](const Parameter& p) { return info(p).need_clip; },
          [](const Parameter& p, bool value) { info(p).need_clip = value; })
      .def_property_readonly("optimize_attr",
                             [](const Parameter& p) {
                               py::dict attributes;
                               attributes["learning_rate"] = info(p).learning_rate;
                               return attributes;
                             })
      .def_property(
          "learning_rate_factor", [](const Parameter& p) { return info(p).learning_rate; },
          [](const Parameter& p, float value) { info(p).learning_rate = value; }, "A factor on the optimizer's learning rate.");
}

}  // namespace

void bind_variable(py::module_& m) {
  py::class_<Variable, std::shared_ptr<Variable>>(m, "Variable", py::dynamic_attr(),
                                                  R"(A variable of a program: what layer functions take and return.

    >>> x = fluid.data("x", [None, 4])
    >>> x.name, x.shape, (x + x).shape
    ('x', (-1, 4), (-1, 4))
    )")
      .def_property_readonly("name", &Variable::name)
      .def_property_readonly("shape", [](const Variable& v) { return shape_object(v.shape()); })
      .def_property_readonly("dtype", &Variable::dtype)
      .def_property_readonly("lod_level", &Variable::lod_level)
      .def_property_readonly("type", [](const Variable& v) { return kind_object(v.desc().kind); })
      .def_property("persistable", &Variable::persistable, &Variable::set_persistable)
      .def_property("stop_gradient", &Variable::stop_gradient, &Variable::set_stop_gradient)
      .def_property(
          "is_data", [](const Variable& v) { return v.desc().is_data; },
          [](const Variable& v, bool value) { v.desc().is_data = value; })
      .def_property_readonly("block", [](const Variable& v) { return BlockHandle{v.program(), &v.block()}; })
      .def_property_readonly("grad_name", [](const Variable& v) { return v.name() + "@GRAD"; })
      .def(
          "to_string", [](const Variable& v, bool, bool) { return graph::to_string(v.desc()); }, py::arg("throw_on_error") = true,
          py::arg("with_details") = false)
      .def("__str__", [](const Variable& v) { return graph::to_string(v.desc()); })
      .def("__repr__", [](const Variable& v) { return graph::to_string(v.desc()); })
      .def("__hash__", [](const Variable& v) { return std::hash<const void*>()(&v.desc()); });
  bind_parameter_class(m);
  m.def(
      "dtype_name", [](graph::DType dtype) { return std::string(graph::dtype_name(dtype)); }, py::arg("dtype"),
      "NumPy's name of it.");
}

}  // namespace argosy::python
