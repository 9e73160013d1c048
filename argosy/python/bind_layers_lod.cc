#include "argosy/graph/layers/sequence.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

// Functions of sequences that are more than one operator, or cut rows anew.
namespace argosy::python {

using graph::ParamAttr;
using graph::Variable;

namespace {

// "boundaries of y" or a list of them.
Variable lod_reset(const Variable& x, const VariableOrNone& y, const std::optional<std::vector<int32_t>>& target_lod) {
  if (y) return layers::lod_reset(x, y.value);
  if (!target_lod) throw Error(Status::invalid_argument("lod_reset: y or target_lod must be given"));
  return layers::lod_reset(x, *target_lod);
}

Variable lod_append(const Variable& x, const std::variant<Variable, std::vector<int32_t>>& level) {
  return std::visit([&](const auto& given) { return layers::lod_append(x, given); }, level);
}

Variable sequence_conv(const Variable& input, int32_t num_filters, int32_t filter_size, int32_t filter_stride, bool padding,
                       std::optional<int32_t> padding_start, const ParamAttr& bias_attr, const ParamAttr& param_attr,
                       const Text& act, const Text& name) {
  if (!padding)
    throw Error(Status::invalid_argument("sequence_conv: padding is always with zeros; padding=False is not supported"));
  return layers::sequence_conv(input, num_filters,
                               {.filter_size = filter_size,
                                .filter_stride = filter_stride,
                                .padding_start = padding_start,
                                .bias = bias_attr,
                                .param = param_attr,
                                .act = act,
                                .name = name});
}

}  // namespace

void bind_layers_lod(py::module_& m) {
  const auto none = py::none();
  m.def("sequence_conv", &sequence_conv, py::arg("input"), py::arg("num_filters"), py::arg("filter_size") = 3,
        py::arg("filter_stride") = 1, py::arg("padding") = true, py::arg("padding_start") = none, py::arg("bias_attr") = none,
        py::arg("param_attr") = none, py::arg("act") = none, py::arg("name") = none,
        R"(Each row with its neighbours in the sequence, filter_size of them, times num_filters filters.

    >>> x = fluid.data("x", [None, 4], lod_level=1)
    >>> fluid.layers.sequence_conv(x, num_filters=2, filter_size=3).shape
    (-1, 2)
    )");
  m.def("lod_reset", &lod_reset, py::arg("x"), py::arg("y") = none, py::arg("target_lod") = none,
        R"(The rows of x cut into the sequences of y, or by the boundaries target_lod.

    >>> x = fluid.data("x", [None, 4])
    >>> y = fluid.layers.lod_reset(x, target_lod=[0, 2, 4])
    )");
  m.def("lod_append", &lod_append, py::arg("x"), py::arg("level"),
        R"(x with one more, innermost level of sequences; `level` has its boundaries.

    >>> x = fluid.data("x", [None, 4], lod_level=1)
    >>> y = fluid.layers.lod_append(x, [0, 2, 4])
    )");
}

}  // namespace argosy::python
