#include "argosy/optim/finite.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace argosy::optim {
namespace {

TEST(AllFinite, FindsOneNumberWhereverItIs) {
  for (size_t size = 0; size < 70; ++size) {
    std::vector<float> numbers(size, -std::numeric_limits<float>::max());
    EXPECT_TRUE(all_finite(numbers)) << size;
    for (size_t place = 0; place < size; ++place) {
      for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
        numbers[place] = bad;
        EXPECT_FALSE(all_finite(numbers)) << bad << " at " << place << " of " << size;
      }
      numbers[place] = std::numeric_limits<float>::denorm_min();
    }
    EXPECT_TRUE(all_finite(numbers)) << size;
  }
}

}  // namespace
}  // namespace argosy::optim
