// Recurrent layers.
#include "argosy/base/error.h"
#include "argosy/graph/function_call.h"
#include "argosy/graph/layers/nn.h"
#include "argosy/graph/layers/sequence.h"

namespace argosy::layers {

using graph::LayerHelper;

namespace {

void check_bias(const char* layer, const ParamAttr& bias) {
  if (bias.absent) throw Error(Status::invalid_argument("{}: bias_attr cannot be False", layer));
}

// The width of the state, of which `size` is a multiple.
int32_t state_width(const char* layer, int32_t size, int32_t parts) {
  if (size < 1 || size % parts != 0)
    throw Error(Status::invalid_argument("{}: size is {}, expected a multiple of {}", layer, size, parts));
  return size / parts;
}

}  // namespace

Variable dynamic_gru(const Variable& input, int32_t size, const DynamicGruOptions& options) {
  LayerHelper helper("gru", "");
  const Variable weight = helper.create_parameter(options.param, {size, 3 * size}, input.dtype());
  graph::SlotMap inputs = {{"Input", {input.name()}}, {"Weight", {weight.name()}}};
  if (!options.bias.absent) inputs["Bias"] = {helper.create_parameter(options.bias, {1, 3 * size}, input.dtype(), true).name()};
  if (options.h_0) inputs["H0"] = {options.h_0.name()};
  const Variable hidden = helper.create_tmp(input.dtype());
  const Variable gate = helper.create_tmp(input.dtype());
  const Variable reset = helper.create_tmp(input.dtype());
  const Variable batch_hidden = helper.create_tmp(input.dtype());
  helper.append_op({.type = "gru",
                    .inputs = std::move(inputs),
                    .outputs = {{"Hidden", {hidden.name()}},
                                {"BatchGate", {gate.name()}},
                                {"BatchResetHiddenPrev", {reset.name()}},
                                {"BatchHidden", {batch_hidden.name()}}},
                    .attributes = {{"is_reverse", options.is_reverse},
                                   {"gate_activation", options.gate_activation},
                                   {"activation", options.candidate_activation},
                                   {"origin_mode", options.origin_mode}}});
  return hidden;
}

Lstm dynamic_lstm(const Variable& input, int32_t size, const DynamicLstmOptions& options) {
  check_bias("dynamic_lstm", options.bias);
  const int32_t width = state_width("dynamic_lstm", size, 4);
  LayerHelper helper("lstm", options.name);
  const Variable weight = helper.create_parameter(options.param, {width, 4 * width}, input.dtype());
  const Variable bias = helper.create_parameter(options.bias, {1, (options.use_peepholes ? 7 : 4) * width}, input.dtype(), true);
  const Variable hidden = helper.create_tmp(input.dtype());
  const Variable cell = helper.create_tmp(input.dtype());
  const Variable gate = helper.create_tmp(input.dtype());
  const Variable before = helper.create_tmp(input.dtype());
  graph::SlotMap inputs = {{"Input", {input.name()}}, {"Weight", {weight.name()}}, {"Bias", {bias.name()}}};
  if (options.h_0) inputs["H0"] = {options.h_0.name()};
  if (options.c_0) inputs["C0"] = {options.c_0.name()};
  helper.append_op({.type = "lstm",
                    .inputs = std::move(inputs),
                    .outputs = {{"Hidden", {hidden.name()}},
                                {"Cell", {cell.name()}},
                                {"BatchGate", {gate.name()}},
                                {"BatchCellPreAct", {before.name()}}},
                    .attributes = {{"use_peepholes", options.use_peepholes},
                                   {"is_reverse", options.is_reverse},
                                   {"gate_activation", options.gate_activation},
                                   {"cell_activation", options.cell_activation},
                                   {"candidate_activation", options.candidate_activation}}});
  return {.hidden = hidden, .cell = cell};
}

GruUnit gru_unit(const Variable& input, const Variable& hidden, int32_t size, const GruUnitOptions& options) {
  const int32_t width = state_width("gru_unit", size, 3);
  LayerHelper helper("gru_unit", "");
  const Variable weight = helper.create_parameter(options.param, {width, 3 * width}, input.dtype());
  const Variable gate = helper.create_tmp(input.dtype());
  const Variable reset = helper.create_tmp(input.dtype());
  const Variable updated = helper.create_tmp(input.dtype());
  graph::SlotMap inputs = {{"Input", {input.name()}}, {"HiddenPrev", {hidden.name()}}, {"Weight", {weight.name()}}};
  if (!options.bias.absent) inputs["Bias"] = {helper.create_parameter(options.bias, {1, 3 * width}, input.dtype(), true).name()};
  helper.append_op({.type = "gru_unit",
                    .inputs = std::move(inputs),
                    .outputs = {{"Gate", {gate.name()}}, {"ResetHiddenPrev", {reset.name()}}, {"Hidden", {updated.name()}}},
                    .attributes = {{"origin_mode", options.origin_mode}}});
  return {.hidden = updated, .reset_hidden = reset, .gate = gate};
}

Lstm lstm_unit(const Variable& x_t, const Variable& hidden_t_prev, const Variable& cell_t_prev, const LstmUnitOptions& options) {
  check_bias("lstm_unit", options.bias);
  if (cell_t_prev.shape().size() != 2) {
    throw Error(Status::invalid_argument("lstm_unit: '{}' has shape {}, expected [rows, width]", cell_t_prev.name(),
                                         graph::shape_to_string(cell_t_prev.shape())));
  }
  LayerHelper helper("lstm_unit", options.name);
  const Variable both = graph::call("concat", {std::vector<Variable>{x_t, hidden_t_prev}, graph::Attribute(1)})[0];
  const Variable gates = fc(both, 4 * cell_t_prev.shape()[1], {.param = options.param, .bias = options.bias});
  const Variable cell = helper.create_tmp(x_t.dtype());
  const Variable hidden = helper.create_tmp(x_t.dtype());
  helper.append_op({.type = "lstm_unit",
                    .inputs = {{"X", {gates.name()}}, {"C_prev", {cell_t_prev.name()}}},
                    .outputs = {{"C", {cell.name()}}, {"H", {hidden.name()}}},
                    .attributes = {{"forget_bias", options.forget_bias}}});
  return {.hidden = hidden, .cell = cell};
}

}  // namespace argosy::layers
