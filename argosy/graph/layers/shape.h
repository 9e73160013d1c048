#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "argosy/graph/layers/types.h"

// Layer functions that change shapes, put variables together and take them apart, with the names, operators and shapes of
// fluid.layers. They add to the default main program and throw argosy::Error. Confined to the building thread.
namespace argosy::layers {

struct ReshapeOptions {
  Variable actual_shape;  // where it is given it wins over `shape`, which then only describes
  std::string act;
  bool inplace = false;   // the result is x itself
  std::string name;
};
// `shape` may have one -1 (what is left), and 0 where a size is x's own.
Variable reshape(const Variable& x, const Numbers& shape, const ReshapeOptions& options = {});
Variable unsqueeze(const Variable& input, const Numbers& axes, const std::string& name = "");
Variable expand(const Variable& x, const Numbers& expand_times, const std::string& name = "");

std::vector<Variable> unstack(const Variable& x, int32_t axis = 0, int32_t num = 0);  // num 0: the size of the axis
// Equal parts, or parts of given sizes of which one may be -1.
std::vector<Variable> split(const Variable& input, int32_t num, const Number& dim = -1, const std::string& name = "");
std::vector<Variable> split(const Variable& input, const Numbers& sections, const Number& dim = -1, const std::string& name = "");
Variable slice(const Variable& input, const std::vector<int32_t>& axes, const Numbers& starts, const Numbers& ends);
// Every strides[i]-th entry; backwards where it is negative.
Variable strided_slice(const Variable& input, const std::vector<int32_t>& axes, const Numbers& starts, const Numbers& ends,
                       const Numbers& strides);
// What x[...] writes: named after x, and the axes in `single` go, because one entry of each is taken.
Variable slice_of(const Variable& x, const std::vector<int32_t>& axes, const std::vector<int64_t>& starts,
                  const std::vector<int64_t>& ends, const std::vector<int32_t>& single);

}  // namespace argosy::layers
