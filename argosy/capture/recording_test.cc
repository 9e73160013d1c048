#include "argosy/capture/recording.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace argosy::capture {
namespace {

using testing::HasSubstr;

TEST(Recording, IsOfAGpuAndSaysSo) {
  const auto made = make_recording(c10::DeviceType::CPU);
  EXPECT_EQ(made.status().code(), Code::unimplemented);
  EXPECT_THAT(made.status().message(), HasSubstr("work is recorded on a GPU, and this is for cpu"));
}

class Nothing final : public Recording {
 public:
  Status rehearse(const Work& work) override { return work(); }
  Status record(const Work& work) override { return work(); }
  Status replay() override { return {}; }
};

TEST(Recording, IsAnotherOneWhileATestSaysSo) {
  {
    const OtherRecordings other([] { return std::unique_ptr<Recording>(std::make_unique<Nothing>()); });
    EXPECT_TRUE(make_recording(c10::DeviceType::CPU).ok());
  }
  EXPECT_FALSE(make_recording(c10::DeviceType::CPU).ok());
}

class GpuRecording : public testing::Test {
 protected:
  void SetUp() override {
    if (at::getNumGPUs() == 0) GTEST_SKIP() << "libtorch sees no GPU on this machine";
  }
};

TEST_F(GpuRecording, AddsWhereItAddedEachTimeThatItIsReplayed) {
  auto made = make_recording(c10::DeviceType::CUDA);
  ASSERT_TRUE(made.ok()) << made.status().message();
  Recording& recording = **made;
  const at::Tensor sum = at::zeros({4}, at::kCUDA), one = at::ones({4}, at::kCUDA);
  const auto add = [&] { return sum.add_(one * 2), Status(); };
  ASSERT_EQ(recording.rehearse(add), Status());
  EXPECT_EQ(sum.sum().item<float>(), 8);
  ASSERT_EQ(recording.record(add), Status());
  EXPECT_EQ(sum.sum().item<float>(), 8) << "a recording computes nothing";
  one.fill_(3);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(recording.replay(), Status());
  EXPECT_EQ(sum.sum().item<float>(), 56);
}

TEST_F(GpuRecording, CanBeMadeAgainAfterWorkThatFailed) {
  auto made = make_recording(c10::DeviceType::CUDA);
  ASSERT_TRUE(made.ok()) << made.status().message();
  Recording& recording = **made;
  const at::Tensor sum = at::zeros({4}, at::kCUDA);
  EXPECT_EQ(recording.record([&] { return Status::invalid_argument("no"); }).message(), "no");
  EXPECT_EQ(recording.rehearse([&] { return Status::invalid_argument("no"); }).message(), "no");
  ASSERT_EQ(recording.record([&] { return sum.add_(at::rand({4}, at::kCUDA) + 1), Status(); }), Status());
  ASSERT_EQ(recording.replay(), Status());
  const float first = sum.sum().item<float>();
  ASSERT_EQ(recording.replay(), Status());
  EXPECT_GT(first, 4);
  EXPECT_NE(sum.sum().item<float>(), 2 * first) << "random numbers are others in each replay";
}

}  // namespace
}  // namespace argosy::capture
