#include "argosy/graph/layers/sequence.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

// Functions that cut, join, fill and rearrange sequences.
namespace argosy::python {

using graph::DType;
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

Variable sequence_mask(const Variable& x, const std::variant<std::monostate, Variable, int64_t>& maxlen, DType dtype,
                       const Text& name) {
  if (const auto* length = std::get_if<int64_t>(&maxlen)) return layers::sequence_mask(x, *length, dtype, name);
  if (const auto* variable = std::get_if<Variable>(&maxlen)) return layers::sequence_mask(x, *variable, dtype, name);
  return layers::sequence_mask(x, -1, dtype, name);
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

// Functions of one variable and a name.
void bind_named(py::module_& m, const char* name, const char* argument,
                Variable (*function)(const Variable&, const std::string&)) {
  m.def(
      name, [function](const Variable& x, const Text& layer_name) { return function(x, layer_name); }, py::arg(argument),
      py::arg("name") = py::none());
}

void bind_rearranging(py::module_& m) {
  const auto none = py::none();
  m.def(
      "sequence_expand",
      [](const Variable& x, const Variable& y, int32_t ref_level, const Text& name) {
        return layers::sequence_expand(x, y, ref_level, name);
      },
      py::arg("x"), py::arg("y"), py::arg("ref_level") = -1, py::arg("name") = none);
  m.def(
      "sequence_expand_as",
      [](const Variable& x, const Variable& y, const Text& name) { return layers::sequence_expand_as(x, y, name); }, py::arg("x"),
      py::arg("y"), py::arg("name") = none);
  m.def(
      "sequence_concat", [](const OneOrMore& input, const Text& name) { return layers::sequence_concat(input.values, name); },
      py::arg("input"), py::arg("name") = none);
  m.def(
      "sequence_softmax", [](const Variable& input, bool, const Text& name) { return layers::sequence_softmax(input, name); },
      py::arg("input"), py::arg("use_cudnn") = false, py::arg("name") = none, "use_cudnn has no effect: there is one device.");
  m.def("sequence_reshape", &layers::sequence_reshape, py::arg("input"), py::arg("new_dim"));
  bind_named(m, "sequence_reverse", "x", &layers::sequence_reverse);
  m.def(
      "sequence_slice",
      [](const Variable& input, const Variable& offset, const Variable& length, const Text& name) {
        return layers::sequence_slice(input, offset, length, name);
      },
      py::arg("input"), py::arg("offset"), py::arg("length"), py::arg("name") = none);
  m.def(
      "sequence_enumerate",
      [](const Variable& input, int32_t win_size, int32_t pad_value, const Text& name) {
        return layers::sequence_enumerate(input, win_size, pad_value, name);
      },
      py::arg("input"), py::arg("win_size"), py::arg("pad_value") = 0, py::arg("name") = none);
  m.def("lod_reset", &lod_reset, py::arg("x"), py::arg("y") = none, py::arg("target_lod") = none);
  m.def("lod_append", &lod_append, py::arg("x"), py::arg("level"));
}

}  // namespace

void bind_layers_lod(py::module_& m) {
  const auto none = py::none();
  m.def(
      "sequence_pad",
      [](const Variable& x, const Variable& pad_value, std::optional<int32_t> maxlen, const Text& name) {
        const auto made = layers::sequence_pad(x, pad_value, maxlen.value_or(-1), name);
        return py::make_tuple(made.out, made.length);
      },
      py::arg("x"), py::arg("pad_value"), py::arg("maxlen") = none, py::arg("name") = none);
  m.def(
      "sequence_unpad",
      [](const Variable& x, const Variable& length, const Text& name) { return layers::sequence_unpad(x, length, name); },
      py::arg("x"), py::arg("length"), py::arg("name") = none);
  m.def("sequence_mask", &sequence_mask, py::arg("x"), py::arg("maxlen") = none, py::arg("dtype") = "int64",
        py::arg("name") = none);
  m.def("sequence_conv", &sequence_conv, py::arg("input"), py::arg("num_filters"), py::arg("filter_size") = 3,
        py::arg("filter_stride") = 1, py::arg("padding") = true, py::arg("padding_start") = none, py::arg("bias_attr") = none,
        py::arg("param_attr") = none, py::arg("act") = none, py::arg("name") = none);
  bind_rearranging(m);
}

}  // namespace argosy::python
