#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "argosy/graph/op_desc.h"
#include "argosy/graph/var_desc.h"

namespace argosy::graph {

class Block;

// How a parameter gets its first values. A plain value, made by the functions below; `init_op` turns it into the operator
// that the startup program runs.
struct Initializer {
  enum class Kind { constant, uniform, normal, truncated_normal, xavier, msra, values };
  Kind kind = Kind::constant;
  float a = 0;                 // constant: the value; uniform: low; normal: mean
  float b = 0;                 // uniform: high; normal: standard deviation
  int32_t seed = 0;            // 0: the program's seed
  bool uniform = true;         // xavier, msra: from a uniform or a normal distribution
  float fan_in = 0, fan_out = 0;  // xavier, msra: 0 means from the shape
  double gain = 0;             // msra: what its deviation is multiplied by; 0: sqrt(2), of relu
  std::vector<float> values;   // Kind::values
};

Initializer constant_initializer(float value);
Initializer uniform_initializer(float low = -1.0f, float high = 1.0f, int32_t seed = 0);
Initializer normal_initializer(float mean = 0.0f, float deviation = 1.0f, int32_t seed = 0);
Initializer truncated_normal_initializer(float mean = 0.0f, float deviation = 1.0f, int32_t seed = 0);
Initializer xavier_initializer(bool uniform = true, float fan_in = 0, float fan_out = 0, int32_t seed = 0);
Initializer msra_initializer(bool uniform = true, float fan_in = 0, int32_t seed = 0, double gain = 0);
Initializer values_initializer(std::vector<float> values);

// The operator that writes the first values of `variable`: fill_constant, uniform_random, gaussian_random,
// truncated_gaussian_random or assign_value, as in Paddle.
OpDesc init_op(const Initializer& initializer, const VarDesc& variable);

// The same for a startup program's block. One that draws is numbered there, in the order in which variables are made: with a seed
// of the program, equal models get equal first values whatever their variables are named, and also where a worker's copy of the
// program leaves some of them to the servers.
OpDesc init_op(const Initializer& initializer, const VarDesc& variable, const Block& block);

}  // namespace argosy::graph
