#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "argosy/graph/layers/types.h"

// Layer functions that make variables: inputs, parameters, constants, random numbers. As all layer functions they work on the
// default programs, have the names, operators and shapes of fluid.layers, and throw argosy::Error. Confined to the building
// thread.
namespace argosy::layers {

struct DataOptions {
  bool append_batch_size = true;  // put -1 in front of the shape, unless it has one already
  int32_t lod_level = 0;          // 1 and more: sequences
  bool stop_gradient = true;
};
// An input of the program, to be fed or bound to a slot of a dataset.
Variable data(const std::string& name, std::vector<int64_t> shape, DType dtype = kFloat32, const DataOptions& options = {});

struct CreateParameterOptions {
  std::string name;
  std::optional<ParamAttr> attr;
  bool is_bias = false;
  std::optional<graph::Initializer> default_initializer;
};
Variable create_parameter(std::vector<int64_t> shape, DType dtype, const CreateParameterOptions& options = {});

struct GlobalVarOptions {
  bool persistable = false;
  bool force_cpu = false;
  std::string name;  // "_generated_var_<n>" where empty
};
// A variable that the startup program sets to `value` and that is no parameter.
Variable create_global_var(std::vector<int64_t> shape, double value, DType dtype, const GlobalVarOptions& options = {});

// An empty variable, for the `out` of other functions.
Variable create_tensor(DType dtype, const std::string& name = "", bool persistable = false);

// A counter that grows by `step` at the beginning of each run, from begin - 1: with a step of 1 the first run sees `begin`. One
// for each name.
Variable autoincreased_step_counter(const std::string& counter_name = "@STEP_COUNTER@", int64_t begin = 1, int64_t step = 1);

struct FillOptions {
  bool force_cpu = false;
  Variable out;  // written to instead of a new variable
};
Variable fill_constant(const Numbers& shape, DType dtype, double value, const FillOptions& options = {});
Variable fill_constant(const Numbers& shape, DType dtype, const Variable& value, const FillOptions& options = {});
Variable zeros(const Numbers& shape, DType dtype, bool force_cpu = false);
Variable ones(const Numbers& shape, DType dtype, bool force_cpu = false);
Variable zeros_like(const Variable& x, const Variable& out = {});
Variable ones_like(const Variable& x, const Variable& out = {});

struct BatchSizeOptions {
  int32_t input_dim_idx = 0;   // the dimension of `input` that is taken
  int32_t output_dim_idx = 0;  // where it goes in the shape
  bool force_cpu = false;
};
Variable fill_constant_batch_size_like(const Variable& input, std::vector<int64_t> shape, DType dtype, double value,
                                       const BatchSizeOptions& options = {});

struct UniformOptions {
  DType dtype = kFloat32;
  float min = -1.0f, max = 1.0f;
  int32_t seed = 0;  // 0: the program's seed, or the process's generator
};
Variable uniform_random(const Numbers& shape, const UniformOptions& options = {});
Variable uniform_random_batch_size_like(const Variable& input, std::vector<int64_t> shape, const UniformOptions& options = {},
                                        const BatchSizeOptions& batch = {});

struct GaussianOptions {
  float mean = 0.0f, std = 1.0f;
  int32_t seed = 0;
  DType dtype = kFloat32;
};
Variable gaussian_random(const Numbers& shape, const GaussianOptions& options = {});

// Numbers from start up to, without, end; and `num` evenly spaced ones from start to stop.
Variable range(const Real& start, const Real& end, const Real& step, DType dtype);
Variable linspace(const Real& start, const Real& stop, const Number& num, DType dtype);

// A copy of a variable, or given values in row order.
Variable assign(const Variable& input, const Variable& output = {});
Variable assign(const std::vector<float>& values, std::vector<int64_t> shape, const Variable& output = {});
Variable assign(const std::vector<int32_t>& values, std::vector<int64_t> shape, const Variable& output = {});
Variable assign(const std::vector<int64_t>& values, std::vector<int64_t> shape, const Variable& output = {});
Variable assign(const std::vector<bool>& values, std::vector<int64_t> shape, const Variable& output = {});

// Where an operator takes such numbers, and how a known one among variables becomes a variable itself: a temporary of the
// layer, or a fill_constant layer with a name of its own.
struct NumbersSlots {
  const char* attribute;
  const char* tensor;  // for one variable with all of them; null where the operator has none
  const char* list;    // for one variable each
  DType dtype = DType::int32;
  bool own_layers = false;
};

// Puts `numbers` into `op`, which `helper` is about to add.
void put_numbers(graph::LayerHelper& helper, graph::OpDesc& op, const Numbers& numbers, const NumbersSlots& slots);

}  // namespace argosy::layers
