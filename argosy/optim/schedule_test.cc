#include "argosy/optim/schedule.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "argosy/base/random.h"
#include "argosy/optim/goldens/schedule_goldens.h"

namespace argosy::optim {
namespace {

TEST(Schedule, AgreesWithTheOriginals) {
  for (const ScheduleGolden& golden : kScheduleGoldens) {
    SCOPED_TRACE(golden.text);
    ASSERT_TRUE(golden.schedule.schedule()->check().ok());
    for (size_t step = 0; step < golden.rates.size(); ++step) {
      EXPECT_NEAR(golden.schedule.value(static_cast<int64_t>(step)), golden.rates[step], 1e-6 * golden.rates[step] + 1e-9)
          << step;
    }
  }
}

// What an op's attributes hold is all there is: a schedule that is put together from them again is the same function.
TEST(Schedule, IsItsAttributes) {
  for (const ScheduleGolden& golden : kScheduleGoldens) {
    const Schedule& written = *golden.schedule.schedule();
    const Schedule read{written.kind, written.floats, written.ints};
    EXPECT_EQ(read, written);
    EXPECT_EQ(read.value(3), written.value(3)) << golden.text;
  }
  const Schedule nested = linear_lr_warmup(exponential_decay(0.5, 4, 0.25, true), 10, 0, 1);
  EXPECT_EQ(nested.kind, "linear_warmup/exponential");
  EXPECT_EQ(nested.floats, (std::vector<float>{0, 1, 0.5f, 0.25f}));
  EXPECT_EQ(nested.ints, (std::vector<int64_t>{10, 0, 4, 1}));
}

TEST(Schedule, WarmupsNest) {
  const Schedule twice = linear_lr_warmup(linear_lr_warmup(0.5, 20, 0.1, 0.3), 10, 0, 0.1);
  EXPECT_TRUE(twice.check().ok()) << twice.check().to_string();
  EXPECT_FLOAT_EQ(twice.value(5), 0.05f);
  EXPECT_FLOAT_EQ(twice.value(15), 0.25f);
  EXPECT_FLOAT_EQ(twice.value(20), 0.5f);
}

TEST(LearningRate, IsANumberOrASchedule) {
  const LearningRate number = 0.25;
  EXPECT_EQ(number.schedule(), nullptr);
  EXPECT_EQ(number.value(1000), 0.25f);
  EXPECT_EQ(number.to_schedule(), (Schedule{"constant", {0.25f}, {}}));
  const LearningRate scheduled = lr::StepDecay{.learning_rate = 1, .step_size = 2, .gamma = 0.5};
  EXPECT_EQ(scheduled.value(5), 0.25f);
}

TEST(Schedule, SaysWhatIsWrongWithIt) {
  const auto message = [](const Schedule& schedule) { return schedule.check().message(); };
  EXPECT_EQ(message({"exponentiel", {}, {}}), "no learning-rate schedule is named 'exponentiel'; did you mean 'exponential'?");
  EXPECT_EQ(message({"exponential", {0.1f}, {4, 0}}),
            "learning-rate schedule 'exponential' has 1 floats and 2 ints, too few for its 'exponential'");
  EXPECT_EQ(message({"exponential", {0.1f, 0.5f, 1}, {4, 0}}),
            "learning-rate schedule 'exponential' has 1 floats and 0 ints too many");
  EXPECT_EQ(message(exponential_decay(0.1, 0, 0.5)), "learning-rate schedule 'exponential': its number of steps is not positive");
  EXPECT_EQ(message(piecewise_decay({3, 7}, {0.1, 0.2})),
            "learning-rate schedule 'piecewise': piecewise needs one value more than boundaries");
  EXPECT_EQ(message(piecewise_decay({7, 3}, {1, 2, 3})), "learning-rate schedule 'piecewise': its boundaries do not ascend");
  EXPECT_EQ(message({"linear_warmup", {0, 1}, {10, 0}}),
            "learning-rate schedule 'linear_warmup': linear_warmup contains another schedule, and only it does");
  EXPECT_EQ(message({"constant/constant", {0, 1}, {}}),
            "learning-rate schedule 'constant/constant': linear_warmup contains another schedule, and only it does");
  EXPECT_EQ(message({"constant", {std::numeric_limits<float>::infinity()}, {}}),
            "learning-rate schedule 'constant' has a number that is not finite");
  EXPECT_FALSE(Schedule{}.check().ok());
}

// Attributes come from files: whatever they hold, check() answers, and what it lets pass can be evaluated.
TEST(Schedule, HostileAttributesAreAnErrorOrAFunction) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  int accepted = 0;
  for (int round = 0; round < 2000; ++round) {
    Schedule schedule = *kScheduleGoldens[random.below(kScheduleGoldens.size())].schedule.schedule();
    if (random.below(4) == 0) schedule.kind += "/constant";
    if (random.below(4) == 0) schedule.kind = schedule.kind.substr(random.below(schedule.kind.size()));
    if (random.below(4) == 0) schedule.floats.resize(random.below(6));
    if (random.below(4) == 0) schedule.ints.resize(random.below(6));
    for (int64_t& number : schedule.ints) {
      if (random.below(4) == 0) number = static_cast<int64_t>(random()) >> random.below(64);
    }
    if (!schedule.check().ok()) continue;
    ++accepted;
    for (const int64_t step : {int64_t{0}, int64_t{1}, int64_t{1} << 40}) schedule.value(step);
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace argosy::optim
