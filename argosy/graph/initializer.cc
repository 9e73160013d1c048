#include "argosy/graph/initializer.h"

#include <algorithm>
#include <cmath>

#include "argosy/graph/program.h"

namespace argosy::graph {
namespace {

struct Fans {
  double in = 0, out = 0;
};

// A matrix has its two sides; a filter [out, in, h, w] counts its receptive field in both.
Fans fans_of(const std::vector<int64_t>& shape) {
  if (shape.empty()) return {1, 1};
  if (shape.size() == 1) return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
  if (shape.size() == 2) return {static_cast<double>(shape[0]), static_cast<double>(shape[1])};
  double field = 1;
  for (size_t i = 2; i < shape.size(); ++i) field *= static_cast<double>(shape[i]);
  return {static_cast<double>(shape[1]) * field, static_cast<double>(shape[0]) * field};
}

OpDesc fill_op(std::string type, const VarDesc& variable) {
  OpDesc op;
  op.type = std::move(type);
  op.outputs["Out"] = {variable.name};
  op.attributes["shape"] = variable.shape;
  op.attributes["dtype"] = static_cast<int32_t>(variable.dtype);
  return op;
}

OpDesc uniform_op(const VarDesc& variable, double low, double high, int32_t seed) {
  OpDesc op = fill_op("uniform_random", variable);
  op.attributes["min"] = static_cast<float>(low);
  op.attributes["max"] = static_cast<float>(high);
  op.attributes["seed"] = seed;
  return op;
}

OpDesc normal_op(std::string type, const VarDesc& variable, double mean, double deviation, int32_t seed) {
  OpDesc op = fill_op(std::move(type), variable);
  op.attributes["mean"] = static_cast<float>(mean);
  op.attributes["std"] = static_cast<float>(deviation);
  op.attributes["seed"] = seed;
  return op;
}

// `variance` is that of the wanted distribution.
OpDesc scaled_op(const Initializer& init, const VarDesc& variable, double variance) {
  if (!init.uniform) return normal_op("gaussian_random", variable, 0.0, std::sqrt(variance), init.seed);
  const double limit = std::sqrt(3.0 * variance);
  return uniform_op(variable, -limit, limit, init.seed);
}

}  // namespace

Initializer constant_initializer(float value) { return {.kind = Initializer::Kind::constant, .a = value}; }
Initializer uniform_initializer(float low, float high, int32_t seed) {
  return {.kind = Initializer::Kind::uniform, .a = low, .b = high, .seed = seed};
}
Initializer normal_initializer(float mean, float deviation, int32_t seed) {
  return {.kind = Initializer::Kind::normal, .a = mean, .b = deviation, .seed = seed};
}
Initializer truncated_normal_initializer(float mean, float deviation, int32_t seed) {
  return {.kind = Initializer::Kind::truncated_normal, .a = mean, .b = deviation, .seed = seed};
}
Initializer xavier_initializer(bool uniform, float fan_in, float fan_out, int32_t seed) {
  return {.kind = Initializer::Kind::xavier, .seed = seed, .uniform = uniform, .fan_in = fan_in, .fan_out = fan_out};
}
Initializer msra_initializer(bool uniform, float fan_in, int32_t seed, double gain) {
  return {.kind = Initializer::Kind::msra, .seed = seed, .uniform = uniform, .fan_in = fan_in, .gain = gain};
}
Initializer values_initializer(std::vector<float> values) {
  return {.kind = Initializer::Kind::values, .values = std::move(values)};
}

OpDesc init_op(const Initializer& init, const VarDesc& variable) {
  using Kind = Initializer::Kind;
  Fans fans = fans_of(variable.shape);
  if (init.fan_in > 0) fans.in = init.fan_in;
  if (init.fan_out > 0) fans.out = init.fan_out;
  switch (init.kind) {
    case Kind::uniform: return uniform_op(variable, init.a, init.b, init.seed);
    case Kind::normal: return normal_op("gaussian_random", variable, init.a, init.b, init.seed);
    case Kind::truncated_normal: return normal_op("truncated_gaussian_random", variable, init.a, init.b, init.seed);
    case Kind::xavier: return scaled_op(init, variable, 2.0 / (fans.in + fans.out));
    case Kind::msra: return scaled_op(init, variable, (init.gain > 0 ? init.gain * init.gain : 2.0) / fans.in);
    case Kind::constant: break;
    case Kind::values: {
      OpDesc op = fill_op("assign_value", variable);
      if (variable.dtype == DType::int64)
        op.attributes["int64_values"] = std::vector<int64_t>(init.values.begin(), init.values.end());
      else if (variable.dtype == DType::int32)
        op.attributes["int32_values"] = std::vector<int32_t>(init.values.begin(), init.values.end());
      else
        op.attributes["fp32_values"] = init.values;
      return op;
    }
  }
  OpDesc op = fill_op("fill_constant", variable);
  op.attributes["value"] = init.a;
  return op;
}

OpDesc init_op(const Initializer& init, const VarDesc& variable, const Block& block) {
  OpDesc op = init_op(init, variable);
  if (!op.type.ends_with("_random")) return op;
  int32_t before = 0;
  for (const auto& other : block.ops()) before = std::max(before, other->attribute_or<int32_t>(kRandomStream, 0));
  op.attributes[kRandomStream] = before + 1;
  return op;
}

}  // namespace argosy::graph
