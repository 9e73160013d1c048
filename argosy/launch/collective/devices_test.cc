#include "argosy/launch/collective/devices.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace argosy::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DevicesTest : public testing::Test {
 protected:
  DevicesTest() {
    ::unsetenv("ARGOSY_DEVICE");
    ::unsetenv("CUDA_VISIBLE_DEVICES");
  }
  ~DevicesTest() override {
    ::unsetenv("ARGOSY_DEVICE");
    ::unsetenv("CUDA_VISIBLE_DEVICES");
  }
  static void see(const char* gpus) { ::setenv("CUDA_VISIBLE_DEVICES", gpus, 1); }

  static std::string chosen(const std::vector<std::string>& gpus, const std::string& processes, const RankInfo& launcher = {}) {
    const auto devices = choose_devices(gpus, processes, launcher);
    if (!devices.ok()) return devices.status().message();
    std::string text = std::to_string(devices->processes);
    for (int gpu : devices->gpus) text += fmt::format(" gpu{}", gpu);
    return text;
  }
};

TEST_F(DevicesTest, GpusAreCountedWithoutCuda) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("argosy-dev-{}", ::getpid());
  std::filesystem::create_directories(folder);
  for (const char* name : {"nvidia0", "nvidia1", "nvidia10", "nvidiactl", "nvidia-uvm", "sda1"})
    std::ofstream(folder / name) << "";
  EXPECT_THAT(visible_gpus(folder.string()), ElementsAre(0, 1, 10));
  see("3,5");
  EXPECT_THAT(visible_gpus(folder.string()), ElementsAre(0, 1));
  see("0,-1,1");
  EXPECT_THAT(visible_gpus(folder.string()), ElementsAre(0));
  see("");
  EXPECT_THAT(visible_gpus(folder.string()), IsEmpty());
  std::filesystem::remove_all(folder);
}

TEST_F(DevicesTest, AProcessForEachGpu) {
  see("0,1,2,3");
  EXPECT_EQ(chosen({}, ""), "4 gpu0 gpu1 gpu2 gpu3");
  EXPECT_EQ(chosen({"1", "3"}, ""), "2 gpu1 gpu3");
  EXPECT_EQ(chosen({}, "2"), "2 gpu0 gpu1");
  EXPECT_EQ(chosen({}, "auto"), "4 gpu0 gpu1 gpu2 gpu3");
  EXPECT_EQ(chosen({"0", "1"}, "2"), "2 gpu0 gpu1");
  see("4,5,6");  // CUDA numbers these anew
  EXPECT_EQ(chosen({"5", "6"}, ""), "2 gpu1 gpu2");
}

TEST_F(DevicesTest, WithoutGpuProcessesAreCounted) {
  see("");
  EXPECT_EQ(chosen({}, ""), "1");
  EXPECT_EQ(chosen({}, "3"), "3");
  see("0,1");
  ::setenv("ARGOSY_DEVICE", "cpu", 1);
  EXPECT_EQ(chosen({}, ""), "1");
  EXPECT_EQ(chosen({"0", "1", "2"}, ""), "3");
  EXPECT_EQ(chosen({}, "5"), "5");
}

// By Gloo, which does not mind.
TEST_F(DevicesTest, ProcessesMayShareAGpu) {
  see("0,1");
  const auto devices = choose_devices({"1", "1", "0"}, "", {}, /*shared_gpus=*/true);
  ASSERT_TRUE(devices.ok()) << devices.status().message();
  EXPECT_EQ(devices->processes, 3);
  EXPECT_THAT(devices->gpus, ElementsAre(1, 1, 0));
  ::setenv("ARGOSY_DEVICE", "cpu", 1);  // there the numbers only count
  EXPECT_EQ(chosen({"0", "0"}, ""), "2");
}

// mpirun -np 2 fleetrun …
TEST_F(DevicesTest, SeveralLaunchersOfOneMachineTakeAGpuEach) {
  see("0,1");
  EXPECT_EQ(chosen({}, "", {.local_rank = 1, .local_world_size = 2}), "1 gpu1");
  EXPECT_THAT(chosen({}, "", {.local_rank = 2, .local_world_size = 3}), HasSubstr("launcher 2 of 3 on a machine with 2 GPUs"));
}

TEST_F(DevicesTest, WhatCannotBeIsNamed) {
  see("");
  EXPECT_THAT(chosen({"0", "1"}, ""), HasSubstr("--gpus 0,1: this machine has no GPU; set ARGOSY_DEVICE=cpu"));
  EXPECT_THAT(chosen({}, "gpu"), HasSubstr("no GPU is seen"));
  see("0,1");
  EXPECT_THAT(chosen({"2"}, ""), HasSubstr("2 is not one of CUDA_VISIBLE_DEVICES='0,1'"));
  EXPECT_THAT(chosen({"0", "0"}, ""), HasSubstr("a GPU occurs twice, which NCCL refuses"));
  EXPECT_THAT(chosen({"zero"}, ""), HasSubstr("found 'zero'"));
  EXPECT_THAT(chosen({}, "3"), HasSubstr("--nproc_per_node 3: 2 GPUs are seen here"));
  EXPECT_THAT(chosen({}, "0"), HasSubstr("found '0', expected a number from 1"));
  EXPECT_THAT(chosen({"0", "1"}, "4"), HasSubstr("--gpus lists 2 and --nproc_per_node says 4"));
}

}  // namespace
}  // namespace argosy::launch
