#include "argosy/graph/function_call.h"
#include "argosy/graph/layers/fill.h"
#include "argosy/graph/layers/operators.h"
#include "argosy/graph/layers/shape.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

// x + y, x * 2, x < y, x[1:] on variables: each adds an operator to the default main program.
namespace argosy::python {

using graph::Variable;

namespace {

using VariableClass = py::class_<Variable, std::shared_ptr<Variable>>;

// One of Python's binary operators, with a variable or a number on the other side.
struct Binary {
  const char* method;
  const char* op;
  bool reversed = false;
};

constexpr Binary kBinaries[] = {
    {"__add__", "elementwise_add"},
    {"__radd__", "elementwise_add", true},
    {"__sub__", "elementwise_sub"},
    {"__rsub__", "elementwise_sub", true},
    {"__mul__", "elementwise_mul"},
    {"__rmul__", "elementwise_mul", true},
    {"__truediv__", "elementwise_div"},
    {"__rtruediv__", "elementwise_div", true},
    {"__pow__", "elementwise_pow"},
    {"__rpow__", "elementwise_pow", true},
    {"__floordiv__", "elementwise_floordiv"},
    {"__mod__", "elementwise_mod"},
    {"__eq__", "equal"},
    {"__ne__", "not_equal"},
    {"__lt__", "less_than"},
    {"__le__", "less_equal"},
    {"__gt__", "greater_than"},
    {"__ge__", "greater_equal"},
};

void bind_binary(VariableClass& variable, const Binary& binary) {
  const auto [method, op, reversed] = binary;
  if (!reversed) {
    variable.def(
        method, [op = op](const Variable& x, const Variable& y) { return layers::operate(op, x, y); }, py::is_operator());
  }
  variable.def(
      method, [op = op, reversed = reversed](const Variable& x, double y) { return layers::operate(op, x, y, reversed); },
      py::is_operator());
}

}  // namespace

void bind_operators(py::module_& m) {
  VariableClass variable = py::reinterpret_borrow<VariableClass>(m.attr("Variable"));
  const py::object hash = variable.attr("__hash__");
  for (const Binary& binary : kBinaries) bind_binary(variable, binary);
  variable.attr("__hash__") = hash;             // Python drops it where __eq__ is set
  variable.attr("__array_ufunc__") = py::none();  // numpy.float32(2) * x is x's to answer
  variable.def("__neg__", &layers::negate)
      .def(
          "__matmul__", [](const Variable& x, const Variable& y) { return graph::call("matmul", {x, y})[0]; }, py::is_operator())
      .def("astype", &layers::astype, py::arg("dtype"))
      .def("clone", [](const Variable& x) { return layers::assign(x); });
  m.def("slice_of", &layers::slice_of, py::arg("x"), py::arg("axes"), py::arg("starts"), py::arg("ends"), py::arg("single"));
}

}  // namespace argosy::python
