#pragma once

#include <optional>
#include <string>
#include <vector>

#include "argosy/graph/layers/types.h"

// Layer functions over sequences: variables whose rows are cut into sequences by boundaries (LoD). See nn.h for what holds
// for all layer functions.
namespace argosy::layers {

struct SequencePoolOptions {
  bool is_test = false;
  float pad_value = 0.0f;  // what an empty sequence gives
};
// One row for each sequence of the innermost level: its sum, average, sqrt (sum over root of length), max, first or last.
Variable sequence_pool(const Variable& input, const std::string& pool_type, const SequencePoolOptions& options = {});
Variable sequence_first_step(const Variable& input);
Variable sequence_last_step(const Variable& input);

// Each row (or sequence, where x has any) of x as often as a sequence of y, of its level `ref_level`, is long.
Variable sequence_expand(const Variable& x, const Variable& y, int32_t ref_level = -1, const std::string& name = "");
// Row i of x becomes a sequence as long as sequence i of y.
Variable sequence_expand_as(const Variable& x, const Variable& y, const std::string& name = "");
Variable sequence_concat(const std::vector<Variable>& input, const std::string& name = "");
Variable sequence_softmax(const Variable& input, const std::string& name = "");  // of rows with one value
Variable sequence_reshape(const Variable& input, int32_t new_dim);
Variable sequence_reverse(const Variable& x, const std::string& name = "");
Variable sequence_slice(const Variable& input, const Variable& offset, const Variable& length, const std::string& name = "");
Variable sequence_enumerate(const Variable& input, int32_t win_size, int32_t pad_value = 0, const std::string& name = "");

struct PaddedSequences {
  Variable out;     // [sequences, length, ...]
  Variable length;  // of each
};
// Sequences filled up with `pad_value`, one number or a row, to `maxlen` rows (-1: to the longest). No gradient reaches
// pad_value.
PaddedSequences sequence_pad(const Variable& x, Variable pad_value, int32_t maxlen = -1, const std::string& name = "");
Variable sequence_unpad(const Variable& x, const Variable& length, const std::string& name = "");
// For each length n of x: n ones, then zeros up to maxlen (-1: the largest of x).
Variable sequence_mask(const Variable& x, const Number& maxlen = -1, DType dtype = kInt64, const std::string& name = "");

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
