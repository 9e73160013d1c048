#include "argosy/optim/initial_states.h"

#include <gtest/gtest.h>

namespace argosy::optim {
namespace {

// Adam's two moments are elements, its two powers of beta are not.
TEST(InitialElementStates, LieOneAfterTheOtherWithoutTheScalars) {
  EXPECT_EQ(initial_element_states(**make_rule("adam"), 3), std::vector<float>(6, 0.0f));
  EXPECT_EQ(initial_element_states(**make_rule("sgd"), 3), std::vector<float>());
}

TEST(InitialElementStates, AHyperParameterMayBeTheValue) {
  const auto rule = *make_rule("adagrad", {{"initial_accumulator_value", 0.5f}});
  EXPECT_EQ(initial_element_states(*rule, 2), (std::vector<float>{0.5f, 0.5f}));
}

}  // namespace
}  // namespace argosy::optim
