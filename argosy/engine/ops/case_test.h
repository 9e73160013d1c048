#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "argosy/engine/ops/layer_test.h"

namespace argosy::engine {

inline at::Tensor doubles(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }
inline at::Tensor longs(const std::vector<int64_t>& values) { return at::tensor(values, at::kLong); }

// One call of a layer function on float64 inputs, with what it must build and compute.
struct Case {
  std::string name;
  std::vector<std::vector<int64_t>> shapes;  // of the inputs; the first size is declared as -1 unless `fixed`
  std::function<Variable(const std::vector<Variable>&)> build;
  std::function<at::Tensor(const std::vector<at::Tensor>&)> expected;
  std::string out_name;                      // not checked where empty
  std::vector<int64_t> out_shape;            // as it is declared; not checked where empty
  double low = -1, high = 1;
  bool fixed = false;
  bool differentiable = true;
};
inline std::ostream& operator<<(std::ostream& out, const Case& test) { return out << test.name; }

// Holds a case to its name, its declared shape, its values, and its gradients by differences.
class CaseTest : public LayerTest, public testing::WithParamInterface<Case> {
 protected:
  // Distinct values in random order, away from 0 and from each other: no kink lies within a difference of them.
  static at::Tensor draw(const Case& test, size_t input) {
    int64_t count = 1;
    for (int64_t size : test.shapes[input]) count *= size;
    const at::Tensor line = at::linspace(test.low, test.high, count + 2, at::kDouble).slice(0, 1, count + 1);
    return (line.index_select(0, at::randperm(count)) + 0.00371 * static_cast<double>(input + 1)).reshape(test.shapes[input]);
  }

  void check(const Case& test) {
    std::vector<Variable> inputs;
    std::vector<at::Tensor> values;
    Feed feed;
    for (size_t i = 0; i < test.shapes.size(); ++i) {
      std::vector<int64_t> declared = test.shapes[i];
      if (!test.fixed) declared[0] = -1;
      inputs.push_back(data("in" + std::to_string(i), declared));
      values.push_back(draw(test, i));
      feed[inputs[i].name()] = {.tensor = values[i]};
    }
    const Variable out = test.build(inputs);
    if (!test.out_name.empty()) EXPECT_EQ(out.name(), test.out_name);
    if (!test.out_shape.empty()) EXPECT_EQ(out.shape(), test.out_shape);
    const at::Tensor found = run(feed, out), expected = test.expected(values);
    ASSERT_EQ(found.sizes(), expected.sizes());
    EXPECT_EQ(found.scalar_type(), expected.scalar_type());
    EXPECT_TRUE(at::allclose(found.to(at::kDouble), expected.to(at::kDouble), 1e-9, 1e-9)) << found << "\nexpected\n" << expected;
    check_declared(out, found);
    if (test.differentiable) check_gradients(out, feed, inputs);
  }

  // What was declared must hold of the value: each size that is not -1, and the element type.
  static void check_declared(const Variable& out, const at::Tensor& found) {
    EXPECT_EQ(scalar_type(out.dtype()), found.scalar_type()) << out.name();
    ASSERT_EQ(out.shape().size(), static_cast<size_t>(found.dim())) << out.name();
    for (size_t i = 0; i < out.shape().size(); ++i) {
      if (out.shape()[i] >= 0) EXPECT_EQ(out.shape()[i], found.size(static_cast<int64_t>(i))) << out.name() << " axis " << i;
    }
  }
};

inline std::string case_name(const testing::TestParamInfo<Case>& info) { return info.param.name; }

}  // namespace argosy::engine
