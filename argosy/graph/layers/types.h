#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "argosy/graph/function_call.h"
#include "argosy/graph/layer_helper.h"
#include "argosy/graph/variable.h"

namespace argosy {

using graph::DType;
using graph::ParamAttr;
using graph::Variable;

inline constexpr DType kBool = DType::boolean;
inline constexpr DType kUInt8 = DType::uint8;
inline constexpr DType kInt8 = DType::int8;
inline constexpr DType kInt16 = DType::int16;
inline constexpr DType kInt32 = DType::int32;
inline constexpr DType kInt64 = DType::int64;
inline constexpr DType kFloat16 = DType::float16;
inline constexpr DType kBFloat16 = DType::bfloat16;
inline constexpr DType kFloat32 = DType::float32;
inline constexpr DType kFloat64 = DType::float64;

}  // namespace argosy

namespace argosy::layers {

// A whole number, or a variable that holds one when the program runs.
struct Number {
  Number(int64_t known) : value(known) {}
  Number(Variable computed) : variable(std::move(computed)) {}

  int64_t value = -1;
  Variable variable;  // empty where the value is known
};

// A number, or a variable that holds one when the program runs.
struct Real {
  Real(double known) : value(known) {}
  Real(Variable computed) : variable(std::move(computed)) {}

  double value = 0;
  Variable variable;  // empty where the value is known
};

inline graph::Argument as_argument(const Number& number) {
  return number.variable ? graph::Argument(number.variable) : graph::Argument(graph::Attribute(number.value));
}
inline graph::Argument as_argument(const Real& number) {
  return number.variable ? graph::Argument(number.variable) : graph::Argument(graph::Attribute(static_cast<float>(number.value)));
}

// Sizes, bounds or counts: {2, 3}, {2, k} with a variable k, or one variable that holds all of them.
struct Numbers {
  Numbers(std::initializer_list<Number> list) : items(list) {}
  Numbers(std::vector<Number> list) : items(std::move(list)) {}
  Numbers(const std::vector<int64_t>& list) : items(list.begin(), list.end()) {}
  Numbers(Variable computed) : all(std::move(computed)) {}

  bool fixed() const;                    // no variable anywhere
  std::vector<int64_t> values() const;   // -1 for each that a variable holds

  std::vector<Number> items;  // empty where `all` is set
  Variable all;
};

// The names of variables, as the slots of operators take them.
std::vector<std::string> names_of(const std::vector<Variable>& variables);

}  // namespace argosy::layers
