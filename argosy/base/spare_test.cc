#include "argosy/base/spare.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "argosy/base/rank_info.h"

namespace argosy {
namespace {

TEST(Spare, IsToldWhatItsVariablesLack) {
  const std::string word = word_of_place({{"WORLD_SIZE", "4"}, {"OMP_NUM_THREADS", "1"}},
                                         {{"WORLD_SIZE", "4"}, {"RANK", "2"}, {"OMP_NUM_THREADS", "2"}}, "/log/workerlog.2");
  EXPECT_EQ(word, "place\x1f/log/workerlog.2\x1fOMP_NUM_THREADS=2\x1fRANK=2");
}

// A process that inherited the variable must not wait for ever.
TEST(Spare, WithoutALauncherIsRefused) {
  ASSERT_EQ(::setenv("ARGOSY_SPARE", "1", 1), 0);
  EXPECT_TRUE(is_spare());
  const auto place = rank_info_from_environment();
  EXPECT_EQ(place.status().code(), Code::failed_precondition);
  EXPECT_THAT(place.status().message(), ::testing::HasSubstr("ARGOSY_SPARE is set, and no launcher is there"));
  ::unsetenv("ARGOSY_SPARE");
  EXPECT_FALSE(is_spare());
  EXPECT_TRUE(variables_of_place().empty());
}

}  // namespace
}  // namespace argosy
