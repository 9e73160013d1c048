#include "argosy/base/log.h"
#include "argosy/graph/layers/sequence.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

// Recurrent layers over sequences.
namespace argosy::python {

using graph::DType;
using graph::ParamAttr;
using graph::Variable;

namespace {

Variable dynamic_gru(const Variable& input, int32_t size, const ParamAttr& param_attr, const ParamAttr& bias_attr,
                     bool is_reverse, const std::string& gate_activation, const std::string& candidate_activation,
                     const VariableOrNone& h_0, bool origin_mode) {
  return layers::dynamic_gru(input, size,
                             {.param = param_attr,
                              .bias = bias_attr,
                              .is_reverse = is_reverse,
                              .gate_activation = gate_activation,
                              .candidate_activation = candidate_activation,
                              .h_0 = h_0,
                              .origin_mode = origin_mode});
}

py::tuple dynamic_lstm(const Variable& input, int32_t size, const VariableOrNone& h_0, const VariableOrNone& c_0,
                       const ParamAttr& param_attr, const ParamAttr& bias_attr, bool use_peepholes, bool is_reverse,
                       const std::string& gate_activation, const std::string& cell_activation,
                       const std::string& candidate_activation, DType dtype, const Text& name) {
  if (dtype != input.dtype()) {
    throw Error(Status::invalid_argument("dynamic_lstm: dtype is {}, but '{}' is {}", graph::dtype_name(dtype), input.name(),
                                         graph::dtype_name(input.dtype())));
  }
  const auto made = layers::dynamic_lstm(input, size,
                                         {.h_0 = h_0,
                                          .c_0 = c_0,
                                          .param = param_attr,
                                          .bias = bias_attr,
                                          .use_peepholes = use_peepholes,
                                          .is_reverse = is_reverse,
                                          .gate_activation = gate_activation,
                                          .cell_activation = cell_activation,
                                          .candidate_activation = candidate_activation,
                                          .name = name});
  return py::make_tuple(made.hidden, made.cell);
}

// PaddlePaddle 1.8 takes the two activations and uses tanh and sigmoid all the same; a model trained there relies on it.
py::tuple gru_unit(const Variable& input, const Variable& hidden, int32_t size, const ParamAttr& param_attr,
                   const ParamAttr& bias_attr, const std::string& activation, const std::string& gate_activation,
                   bool origin_mode) {
  if (activation != "tanh" || gate_activation != "sigmoid") {
    log_warning("gru_unit: activation '{}' and gate_activation '{}' have no effect, as in PaddlePaddle: it uses tanh and sigmoid",
                activation, gate_activation);
  }
  const auto made = layers::gru_unit(input, hidden, size, {.param = param_attr, .bias = bias_attr, .origin_mode = origin_mode});
  return py::make_tuple(made.hidden, made.reset_hidden, made.gate);
}

py::tuple lstm_unit(const Variable& x_t, const Variable& hidden_t_prev, const Variable& cell_t_prev, float forget_bias,
                    const ParamAttr& param_attr, const ParamAttr& bias_attr, const Text& name) {
  const auto made = layers::lstm_unit(x_t, hidden_t_prev, cell_t_prev,
                                      {.forget_bias = forget_bias, .param = param_attr, .bias = bias_attr, .name = name});
  return py::make_tuple(made.hidden, made.cell);
}

}  // namespace

void bind_layers_recurrent(py::module_& m) {
  const auto none = py::none();
  m.def("dynamic_gru", &dynamic_gru, py::arg("input"), py::arg("size"), py::arg("param_attr") = none, py::arg("bias_attr") = none,
        py::arg("is_reverse") = false, py::arg("gate_activation") = "sigmoid", py::arg("candidate_activation") = "tanh",
        py::arg("h_0") = none, py::arg("origin_mode") = false,
        R"(A GRU along each sequence of rows of 3 * size numbers, which a layer such as fc has made.

    >>> x = fluid.data("x", [None, 4], lod_level=1)
    >>> steps = fluid.layers.fc(x, 3 * 8)
    >>> fluid.layers.dynamic_gru(steps, size=8).shape
    (-1, 8)
    )");
  m.def("dynamic_lstm", &dynamic_lstm, py::arg("input"), py::arg("size"), py::arg("h_0") = none, py::arg("c_0") = none,
        py::arg("param_attr") = none, py::arg("bias_attr") = none, py::arg("use_peepholes") = true, py::arg("is_reverse") = false,
        py::arg("gate_activation") = "sigmoid", py::arg("cell_activation") = "tanh", py::arg("candidate_activation") = "tanh",
        py::arg("dtype") = "float32", py::arg("name") = none,
        R"(An LSTM along each sequence of rows of `size` numbers, four times the width of its state: (hidden, cell).

    >>> x = fluid.data("x", [None, 4], lod_level=1)
    >>> hidden, cell = fluid.layers.dynamic_lstm(fluid.layers.fc(x, 4 * 8), size=4 * 8)
    )");
  m.def("gru_unit", &gru_unit, py::arg("input"), py::arg("hidden"), py::arg("size"), py::arg("param_attr") = none,
        py::arg("bias_attr") = none, py::arg("activation") = "tanh", py::arg("gate_activation") = "sigmoid",
        py::arg("origin_mode") = false,
        R"(One step of a GRU; size is three times the width of the state: (hidden, reset hidden, gate).

    >>> x, state = fluid.data("x", [None, 24]), fluid.data("state", [None, 8])
    >>> hidden, reset, gate = fluid.layers.gru_unit(x, state, size=24)
    )");
  m.def("lstm_unit", &lstm_unit, py::arg("x_t"), py::arg("hidden_t_prev"), py::arg("cell_t_prev"), py::arg("forget_bias") = 0.0f,
        py::arg("param_attr") = none, py::arg("bias_attr") = none, py::arg("name") = none, R"(One step of an LSTM: (hidden, cell).

    >>> x, h, c = (fluid.data(name, [None, 8]) for name in "xhc")
    >>> hidden, cell = fluid.layers.lstm_unit(x, h, c)
    )");
}

}  // namespace argosy::python
