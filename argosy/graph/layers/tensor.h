#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "argosy/graph/layers/types.h"

// Layer functions that convert, describe, order and index variables, with the names, operators and shapes of fluid.layers.
// They add to the default main program and throw argosy::Error. Confined to the building thread.
namespace argosy::layers {

Variable cast(const Variable& x, DType dtype);
Variable shape(const Variable& input);  // its sizes, int32
Variable size(const Variable& input);   // the number of elements, int64

Variable argmax(const Variable& x, int32_t axis = 0);
Variable argmin(const Variable& x, int32_t axis = 0);

struct Ordered {
  Variable values, indices;
};
Ordered argsort(const Variable& input, int32_t axis = -1, bool descending = false, const std::string& name = "");
Ordered topk(const Variable& input, const Number& k, const std::string& name = "");  // of the last axis

struct Distinct {
  Variable values;  // in the order of their first occurrence
  Variable index;   // for each element of x: its place in `values`
  Variable count;   // unique_with_counts only
};
Distinct unique(const Variable& x, DType dtype = kInt32);
Distinct unique_with_counts(const Variable& x, DType dtype = kInt32);

// Ids as rows of zeros with a one. fluid.layers.one_hot drops the last dimension of the ids, which is 1; fluid.one_hot, here
// one_hot_v2, keeps all.
Variable one_hot(const Variable& input, const Number& depth, bool allow_out_of_range = false);
Variable one_hot_v2(const Variable& input, const Number& depth, bool allow_out_of_range = false);

Variable where(const Variable& condition);                                        // the positions of true elements
Variable where(const Variable& condition, const Variable& x, const Variable& y);  // x where true, y elsewhere
// Rows by index. `overwrite`: an index that occurs more than once gets the gradient of its last occurrence, not the sum.
Variable gather(const Variable& input, const Variable& index, bool overwrite = true);
Variable gather_nd(const Variable& input, const Variable& index, const std::string& name = "");
Variable scatter(const Variable& input, const Variable& index, const Variable& updates, const std::string& name = "",
                 bool overwrite = true);

}  // namespace argosy::layers
