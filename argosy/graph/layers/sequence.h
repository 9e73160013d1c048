#pragma once

#include <optional>
#include <string>
#include <vector>

#include "argosy/graph/layers/types.h"

// Layer functions over sequences: variables whose rows are cut into sequences by boundaries (LoD). See nn.h for what holds
// for all layer functions. Those that are one operator each are in <argosy/engine/ops/layers.h>.
namespace argosy::layers {

// The rows of x cut into sequences as those of y; y without sequences holds the boundaries themselves.
Variable lod_reset(const Variable& x, const Variable& y);
Variable lod_reset(const Variable& x, const std::vector<int32_t>& target_lod);  // boundaries, from 0 to the number of rows
// A new innermost level.
Variable lod_append(const Variable& x, const Variable& level);
Variable lod_append(const Variable& x, const std::vector<int32_t>& level);

struct SequenceConvOptions {
  int32_t filter_size = 3;                // rows that are seen
  int32_t filter_stride = 1;
  std::optional<int32_t> padding_start;   // the first of them, counted from the row; the middle one is the row without it
  ParamAttr bias, param;
  std::string act, name;
};
Variable sequence_conv(const Variable& input, int32_t num_filters, const SequenceConvOptions& options = {});

struct DynamicGruOptions {
  ParamAttr param, bias;
  bool is_reverse = false;
  std::string gate_activation = "sigmoid", candidate_activation = "tanh";  // sigmoid, tanh, relu or identity
  Variable h_0;                                                            // zeros where empty
  bool origin_mode = false;
};
// A GRU along each sequence of `input`, [rows, 3 size], which a layer such as fc has made.
Variable dynamic_gru(const Variable& input, int32_t size, const DynamicGruOptions& options = {});

struct DynamicLstmOptions {
  Variable h_0, c_0;
  ParamAttr param, bias;
  bool use_peepholes = true;
  bool is_reverse = false;
  std::string gate_activation = "sigmoid", cell_activation = "tanh", candidate_activation = "tanh";
  std::string name;
};
struct Lstm {
  Variable hidden, cell;
};
// An LSTM along each sequence of `input`, [rows, size]; size is four times the width of the state.
Lstm dynamic_lstm(const Variable& input, int32_t size, const DynamicLstmOptions& options = {});

struct GruUnitOptions {
  ParamAttr param, bias;
  bool origin_mode = false;
};
struct GruUnit {
  Variable hidden, reset_hidden, gate;
};
// One step of a GRU; size is three times the width of the state. The gates are sigmoids, the candidate a tanh.
GruUnit gru_unit(const Variable& input, const Variable& hidden, int32_t size, const GruUnitOptions& options = {});

struct LstmUnitOptions {
  float forget_bias = 0.0f;
  ParamAttr param, bias;
  std::string name;
};
Lstm lstm_unit(const Variable& x_t, const Variable& hidden_t_prev, const Variable& cell_t_prev,
               const LstmUnitOptions& options = {});

}  // namespace argosy::layers
