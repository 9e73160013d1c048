#pragma once

#include "argosy/graph/layers/types.h"

// x + y, 2 * x, x < y, … on variables. As in Python each result is a variable named "tmp_<n>"; a plain number takes part as an
// operator `scale` where that is enough. Confined to the building thread; they throw argosy::Error.
namespace argosy::layers {

// `type` is elementwise_add, less_than, …; y is converted to x's element type.
Variable operate(const std::string& type, const Variable& x, const Variable& y);
// The same with a number; `reversed` puts it on the left.
Variable operate(const std::string& type, const Variable& x, double y, bool reversed = false);
Variable negate(const Variable& x);
Variable astype(const Variable& x, DType dtype);

}  // namespace argosy::layers

namespace argosy::graph {

inline Variable operator+(const Variable& x, const Variable& y) { return layers::operate("elementwise_add", x, y); }
inline Variable operator+(const Variable& x, double y) { return layers::operate("elementwise_add", x, y); }
inline Variable operator+(double x, const Variable& y) { return layers::operate("elementwise_add", y, x, true); }
inline Variable operator-(const Variable& x, const Variable& y) { return layers::operate("elementwise_sub", x, y); }
inline Variable operator-(const Variable& x, double y) { return layers::operate("elementwise_sub", x, y); }
inline Variable operator-(double x, const Variable& y) { return layers::operate("elementwise_sub", y, x, true); }
inline Variable operator*(const Variable& x, const Variable& y) { return layers::operate("elementwise_mul", x, y); }
inline Variable operator*(const Variable& x, double y) { return layers::operate("elementwise_mul", x, y); }
inline Variable operator*(double x, const Variable& y) { return layers::operate("elementwise_mul", y, x, true); }
inline Variable operator/(const Variable& x, const Variable& y) { return layers::operate("elementwise_div", x, y); }
inline Variable operator/(const Variable& x, double y) { return layers::operate("elementwise_div", x, y); }
inline Variable operator/(double x, const Variable& y) { return layers::operate("elementwise_div", y, x, true); }
inline Variable operator-(const Variable& x) { return layers::negate(x); }
inline Variable operator<(const Variable& x, const Variable& y) { return layers::operate("less_than", x, y); }
inline Variable operator<=(const Variable& x, const Variable& y) { return layers::operate("less_equal", x, y); }
inline Variable operator>(const Variable& x, const Variable& y) { return layers::operate("greater_than", x, y); }
inline Variable operator>=(const Variable& x, const Variable& y) { return layers::operate("greater_equal", x, y); }

}  // namespace argosy::graph
