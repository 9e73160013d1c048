#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "argosy/graph/layers/control_flow.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"
#include "argosy/python/handles.h"

// Conditions, loops and lists of tensors. Nested structures of variables are taken apart in argosy/fluid/layers/blocks.py:
// these functions have lists of variables.
namespace argosy::python {

using graph::Variable;
using layers::BlockGuard;

namespace {

// A BlockGuard for `with`: open between enter and exit.
class BlockContext {
 public:
  void enter() { guard_ = std::make_unique<BlockGuard>(); }
  BlockHandle exit() {
    graph::Block& block = guard_->block();
    guard_.reset();
    return {block.program().shared_from_this(), &block};
  }

 private:
  std::unique_ptr<BlockGuard> guard_;
};

void bind_blocks(py::module_& m) {
  py::class_<BlockContext>(m, "_BlockContext", "While it is entered, layer functions add to a new block.")
      .def(py::init<>())
      .def("enter", &BlockContext::enter)
      .def("exit", &BlockContext::exit, "The block.");
  m.def(
      "_run_if", [](const Variable& condition, const BlockHandle& body) { layers::run_if(condition, *body.block); },
      py::arg("condition"), py::arg("body"));
  m.def(
      "_run_while", [](const Variable& condition, const BlockHandle& body) { layers::run_while(condition, *body.block); },
      py::arg("condition"), py::arg("body"));
  m.def("_cond", &layers::cond, py::arg("condition"), py::arg("if_true"), py::arg("if_false"));
  m.def("_while_loop", &layers::while_loop, py::arg("condition"), py::arg("body"), py::arg("variables"));
}

void bind_arrays(py::module_& m) {
  m.def("create_array", &layers::create_array, py::arg("dtype"), R"(A list of tensors, empty when the program runs.

    >>> array = fluid.layers.create_array("float32")
    >>> one = fluid.layers.fill_constant([1], "int64", 0)
    >>> array = fluid.layers.array_write(fluid.layers.fill_constant([2], "float32", 3.0), one, array)
    )");
  m.def(
      "array_write",
      [](const Variable& x, const Variable& i, const VariableOrNone& array) { return layers::array_write(x, i, array); },
      py::arg("x"), py::arg("i"), py::arg("array") = py::none(),
      R"(Puts x at position i of a list, a new one without `array`; returns the list.

    >>> at = fluid.layers.fill_constant([1], "int64", 0)
    >>> array = fluid.layers.array_write(fluid.layers.fill_constant([2], "float32", 3.0), at)
    )");
  m.def("array_read", &layers::array_read, py::arg("array"), py::arg("i"), R"(The tensor at position i of a list.

    >>> at = fluid.layers.fill_constant([1], "int64", 0)
    >>> array = fluid.layers.array_write(fluid.layers.fill_constant([2], "float32", 3.0), at)
    >>> fluid.Executor().run(fetch_list=[fluid.layers.array_read(array, at)])[0].tolist()
    [3.0, 3.0]
    )");
  m.def("array_length", &layers::array_length, py::arg("array"), R"(How many places a list has, an int64.

    >>> at = fluid.layers.fill_constant([1], "int64", 4)
    >>> array = fluid.layers.array_write(fluid.layers.fill_constant([1], "float32", 1.0), at)
    >>> fluid.Executor().run(fetch_list=[fluid.layers.array_length(array)])[0].tolist()
    [5]
    )");
}

void bind_print(py::module_& m) {
  m.def(
      "Print",
      [](const Variable& input, int32_t first_n, const Text& message, int32_t summarize, bool print_tensor_name,
         bool print_tensor_type, bool print_tensor_shape, bool print_tensor_lod, const std::string& print_phase) {
        return layers::print(input, {.first_n = first_n,
                                     .message = message,
                                     .summarize = summarize,
                                     .name = print_tensor_name,
                                     .type = print_tensor_type,
                                     .shape = print_tensor_shape,
                                     .lod = print_tensor_lod,
                                     .phase = print_phase});
      },
      py::arg("input"), py::arg("first_n") = -1, py::arg("message") = py::none(), py::arg("summarize") = 20,
      py::arg("print_tensor_name") = true, py::arg("print_tensor_type") = true, py::arg("print_tensor_shape") = true,
      py::arg("print_tensor_lod") = true, py::arg("print_phase") = "both",
      R"(`input`, which is printed on standard output whenever it is computed.

    >>> x = fluid.layers.Print(fluid.layers.fill_constant([1], "float32", 2.0), message="x is")
    )");
}

}  // namespace

void bind_layers_control(py::module_& layers) {
  bind_blocks(layers);
  bind_arrays(layers);
  bind_print(layers);
}

}  // namespace argosy::python
