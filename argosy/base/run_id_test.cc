#include "argosy/base/run_id.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <set>

namespace argosy {
namespace {

class RunId : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "SGE_ROOT"}) ::unsetenv(name);
  }
  void TearDown() override { SetUp(); }
};

TEST_F(RunId, DrawnOnesDiffer) {
  std::set<std::string> drawn;
  for (int i = 0; i < 1000; ++i) drawn.insert(draw_run_id());
  EXPECT_EQ(drawn.size(), 1000u);
  EXPECT_EQ(drawn.begin()->size(), 16u);
  EXPECT_EQ(drawn.begin()->find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST_F(RunId, TheVariableWinsOverTheScheduler) {
  EXPECT_EQ(known_run_id(""), "");
  ::setenv("SLURM_JOB_ID", "4711", 1);
  EXPECT_EQ(known_run_id(""), "slurm-4711");
  EXPECT_EQ(known_run_id("0123456789abcdef"), "0123456789abcdef");
}

// Other programs than Grid Engine set JOB_ID too.
TEST_F(RunId, GridEngineIsKnownByItsRoot) {
  ::setenv("JOB_ID", "7", 1);
  EXPECT_EQ(known_run_id(""), "");
  ::setenv("SGE_ROOT", "/opt/sge", 1);
  EXPECT_EQ(known_run_id(""), "sge-7");
}

// It becomes part of folders' names.
TEST_F(RunId, IsAlwaysTheNameOfAFile) {
  ::setenv("PBS_JOBID", "12[3].head/../x", 1);
  for (const std::string& id :
       {known_run_id(""), known_run_id("../x"), known_run_id(std::string(100, 'a')), known_run_id("..")}) {
    EXPECT_EQ(id.size(), 16u);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos) << id;
  }
  EXPECT_NE(known_run_id("a b"), known_run_id("a c"));
}

}  // namespace
}  // namespace argosy
