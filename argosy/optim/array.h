#pragma once

#include <cmath>
#include <memory>
#include <utility>

// The values that the formulas of update rules are computed on, besides single floats: whole arrays, of which this room knows
// nothing but that they can be added, multiplied and so on. The engine makes them of lists of tensors, on any device.
namespace argosy::optim {

// Someone's arrays. Immutable, so safe to share. Operands of one operation are of the same kind; one of them may be a single
// number (a rate), which then goes with every element of the other, but not as the left side of a difference or a quotient.
class ArrayValue {
 public:
  enum class Binary { add, subtract, multiply, divide, larger, ratio };
  enum class Unary { root, absolute, sign, norm };
  using Pointer = std::shared_ptr<const ArrayValue>;

  virtual ~ArrayValue() = default;
  virtual Pointer combine(Binary op, const ArrayValue& right) const = 0;
  virtual Pointer combine(Binary op, float right) const = 0;
  virtual Pointer combine_reversed(float left, Binary op) const = 0;
  virtual Pointer map(Unary op) const = 0;
  virtual Pointer power(float exponent) const = 0;
  // `kept` where this is above `limit`, 0 elsewhere.
  virtual Pointer mask_above(float limit, const ArrayValue& kept) const = 0;
};

// An ArrayValue with the operators of a number, for formulas that are written once for both. Copies share.
class Array {
 public:
  explicit Array(ArrayValue::Pointer value) : value_(std::move(value)) {}
  const ArrayValue& value() const { return *value_; }

  Array& operator+=(const Array& other) { return *this = *this + other; }
  Array& operator-=(const Array& other) { return *this = *this - other; }

#define ARGOSY_ARRAY_OPERATOR(sign, name)                                                                               \
  friend Array operator sign(const Array& a, const Array& b) {                                                          \
    return Array(a.value_->combine(ArrayValue::Binary::name, *b.value_));                                               \
  }                                                                                                                     \
  friend Array operator sign(const Array& a, float b) { return Array(a.value_->combine(ArrayValue::Binary::name, b)); } \
  friend Array operator sign(float a, const Array& b) { return Array(b.value_->combine_reversed(a, ArrayValue::Binary::name)); }
  ARGOSY_ARRAY_OPERATOR(+, add)
  ARGOSY_ARRAY_OPERATOR(-, subtract)
  ARGOSY_ARRAY_OPERATOR(*, multiply)
  ARGOSY_ARRAY_OPERATOR(/, divide)
#undef ARGOSY_ARRAY_OPERATOR

 private:
  ArrayValue::Pointer value_;
};

// The functions of formulas, for one element and for arrays.
inline float root(float x) { return std::sqrt(x); }
inline Array root(const Array& x) { return Array(x.value().map(ArrayValue::Unary::root)); }

inline float absolute(float x) { return std::abs(x); }
inline Array absolute(const Array& x) { return Array(x.value().map(ArrayValue::Unary::absolute)); }

inline float sign(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f; }
inline Array sign(const Array& x) { return Array(x.value().map(ArrayValue::Unary::sign)); }

inline float power(float x, float exponent) { return std::pow(x, exponent); }
inline Array power(const Array& x, float exponent) { return Array(x.value().power(exponent)); }

// 1, whatever x is.
inline float one_like(float) { return 1; }
inline Array one_like(const Array& x) { return Array(x.value().power(0)); }

inline float larger(float a, float b) { return a > b ? a : b; }
inline Array larger(const Array& a, const Array& b) { return Array(a.value().combine(ArrayValue::Binary::larger, b.value())); }

// a / b where both are above 0, else 1.
inline float ratio(float a, float b) { return a > 0 && b > 0 ? a / b : 1; }
inline Array ratio(const Array& a, const Array& b) { return Array(a.value().combine(ArrayValue::Binary::ratio, b.value())); }

// `kept` where x is above `limit`, 0 elsewhere.
inline float mask_above(float x, float limit, float kept) { return x > limit ? kept : 0; }
inline Array mask_above(const Array& x, float limit, const Array& kept) {
  return Array(x.value().mask_above(limit, kept.value()));
}

// The Euclidean norm of each array, one number each.
inline Array norm(const Array& x) { return Array(x.value().map(ArrayValue::Unary::norm)); }

}  // namespace argosy::optim
