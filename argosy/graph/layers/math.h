#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "argosy/graph/layers/types.h"

// Arithmetic, reductions, products, comparisons and logic on variables, with the names, operators and shapes of fluid.layers.
// Each adds its operators to the default main program. They throw argosy::Error. Confined to the building thread.
namespace argosy::layers {

struct ElementwiseOptions {
  int32_t axis = -1;  // where y's dimensions begin in x's; -1: they are the last ones
  std::string act;    // the type of an activation operator; none where empty
  std::string name;
};
Variable elementwise_add(const Variable& x, const Variable& y, const ElementwiseOptions& options = {});
Variable elementwise_sub(const Variable& x, const Variable& y, const ElementwiseOptions& options = {});
Variable elementwise_mul(const Variable& x, const Variable& y, const ElementwiseOptions& options = {});
Variable elementwise_div(const Variable& x, const Variable& y, const ElementwiseOptions& options = {});
Variable elementwise_max(const Variable& x, const Variable& y, const ElementwiseOptions& options = {});
Variable elementwise_min(const Variable& x, const Variable& y, const ElementwiseOptions& options = {});
Variable elementwise_pow(const Variable& x, const Variable& y, const ElementwiseOptions& options = {});
Variable elementwise_mod(const Variable& x, const Variable& y, const ElementwiseOptions& options = {});
Variable elementwise_floordiv(const Variable& x, const Variable& y, const ElementwiseOptions& options = {});

struct ReduceOptions {
  std::vector<int32_t> dim;  // the axes; all of them where empty, which gives shape [1]
  bool keep_dim = false;     // keep them, with size 1
  std::string name;
};
Variable reduce_sum(const Variable& input, const ReduceOptions& options = {});
Variable reduce_mean(const Variable& input, const ReduceOptions& options = {});
Variable reduce_max(const Variable& input, const ReduceOptions& options = {});
Variable reduce_min(const Variable& input, const ReduceOptions& options = {});
Variable reduce_prod(const Variable& input, const ReduceOptions& options = {});
Variable reduce_all(const Variable& input, const ReduceOptions& options = {});
Variable reduce_any(const Variable& input, const ReduceOptions& options = {});
Variable mean(const Variable& x, const std::string& name = "");

Variable sum(const std::vector<Variable>& x);                          // of variables of one shape
Variable sums(const std::vector<Variable>& input, const Variable& out = {});  // the same, into `out` where it is given

struct MatmulOptions {
  bool transpose_x = false, transpose_y = false;
  float alpha = 1.0f;
  std::string name;
};
Variable matmul(const Variable& x, const Variable& y, const MatmulOptions& options = {});
Variable mul(const Variable& x, const Variable& y, int32_t x_num_col_dims = 1, int32_t y_num_col_dims = 1,
             const std::string& name = "");
Variable bmm(const Variable& x, const Variable& y, const std::string& name = "");
Variable dot(const Variable& x, const Variable& y, const std::string& name = "");

struct ScaleOptions {
  float bias = 0.0f;
  bool bias_after_scale = true;  // scale * x + bias; else scale * (x + bias)
  std::string act, name;
};
Variable scale(const Variable& x, float scale = 1.0f, const ScaleOptions& options = {});
Variable scale(const Variable& x, const Variable& scale, const ScaleOptions& options = {});
Variable clip(const Variable& x, float min, float max, const std::string& name = "");
Variable clip_by_norm(const Variable& x, float max_norm, const std::string& name = "");
// x / sqrt(sum of squares along axis + epsilon).
Variable l2_normalize(const Variable& x, int32_t axis, float epsilon = 1e-12f, const std::string& name = "");
Variable cumsum(const Variable& x, std::optional<int32_t> axis = std::nullopt, bool exclusive = false, bool reverse = false);
// x + value for one element; in place x itself.
Variable increment(const Variable& x, float value = 1.0f, bool in_place = true);

// Comparisons write to `cond` where it is given.
Variable less_than(const Variable& x, const Variable& y, bool force_cpu = false, const Variable& cond = {});
Variable less_equal(const Variable& x, const Variable& y, const Variable& cond = {});
Variable greater_than(const Variable& x, const Variable& y, const Variable& cond = {});
Variable greater_equal(const Variable& x, const Variable& y, const Variable& cond = {});
Variable equal(const Variable& x, const Variable& y, const Variable& cond = {});
Variable not_equal(const Variable& x, const Variable& y, const Variable& cond = {});

Variable logical_and(const Variable& x, const Variable& y, const Variable& out = {}, const std::string& name = "");
Variable logical_or(const Variable& x, const Variable& y, const Variable& out = {}, const std::string& name = "");
Variable logical_xor(const Variable& x, const Variable& y, const Variable& out = {}, const std::string& name = "");
Variable logical_not(const Variable& x, const Variable& out = {}, const std::string& name = "");

// Of the variable as a whole; shape [1].
Variable isfinite(const Variable& x);
Variable has_nan(const Variable& x);
Variable has_inf(const Variable& x);

}  // namespace argosy::layers
