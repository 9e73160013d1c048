#include "argosy/observe/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

namespace argosy::observe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Sets a variable of the environment for one test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = ::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

std::vector<Finding> findings_of(const std::string& what) {
  std::vector<Finding> found;
  for (const Finding& finding : examine_machine()) {
    if (finding.what == what) found.push_back(finding);
  }
  return found;
}

class DoctorTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  const Variable python_{"ARGOSY_PYTHON", "/bin/false"};  // quick
  const fs::path folder_ = fs::path(testing::TempDir()) / ("argosy-doctor-" + std::to_string(::getpid()));
};

// A finding that is not well says what to do; one that cannot be run is not well.
TEST_F(DoctorTest, WhatIsNotWellHasACure) {
  const auto all = examine_machine();
  EXPECT_GE(all.size(), 15);
  for (const Finding& finding : all) {
    EXPECT_FALSE(finding.what.empty());
    EXPECT_FALSE(finding.found.empty()) << finding.what;
    EXPECT_TRUE(finding.what == "variables" || finding.well || !finding.cure.empty()) << finding.what << ": " << finding.found;
  }
  ASSERT_EQ(findings_of("Python").size(), 1);
  EXPECT_FALSE(findings_of("Python")[0].well);
  EXPECT_THAT(findings_of("Python")[0].found, HasSubstr("'/bin/false' cannot be run"));
  EXPECT_FALSE(findings_of("torch")[0].well);
}

TEST_F(DoctorTest, WhatIsNotInstalledComesWithItsPackageOrItsUse) {
  const Variable nowhere("PATH", folder_.string());
  const std::pair<const char*, const char*> wanted[] = {{"C++ compiler", "Debian's g++"},
                                                        {"MPI", "openmpi-bin"},
                                                        {"Slurm", "only jobs under srun need it"},
                                                        {"gdb", "Debian's gdb"}};
  for (const auto& [what, cure] : wanted) {
    const Finding finding = findings_of(what).at(0);
    EXPECT_EQ(finding.found, "none");
    EXPECT_THAT(finding.cure, HasSubstr(cure));
    EXPECT_TRUE(finding.well) << "jobs run without " << what;
  }
  EXPECT_THAT(findings_of("torch").at(0).cure, HasSubstr("pip install torch=="));
  EXPECT_THAT(findings_of("package argosy").at(0).cure, HasSubstr("ARGOSY_PYTHON"));
}

TEST_F(DoctorTest, ALowLimitOfFilesIsTold) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{.rlim_cur = 256, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  const Finding finding = findings_of("open files").at(0);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_FALSE(finding.well);
  EXPECT_THAT(finding.found, HasSubstr("256 per process"));
  EXPECT_THAT(finding.cure, HasSubstr("ulimit -n 4096"));
}

TEST_F(DoctorTest, AMisspeltVariableIsNamed) {
  const Variable wrong("ARGOSY_DURABILTY", "wal");
  const Finding finding = findings_of("variables").at(0);
  EXPECT_FALSE(finding.well);
  EXPECT_THAT(finding.found, HasSubstr("ARGOSY_DURABILTY"));
}

TEST_F(DoctorTest, TheServersFolderIsLookedAtWhereThereIsOne) {
  EXPECT_TRUE(findings_of("disk of the servers").empty());
  const Variable there("ARGOSY_DIRECTORY", folder_.string());
  EXPECT_THAT(findings_of("disk of the servers").at(0).found, HasSubstr("free in " + folder_.string()));
  const Variable absent("ARGOSY_DIRECTORY", (folder_ / "absent").string());
  const Finding finding = findings_of("disk of the servers").at(0);
  EXPECT_FALSE(finding.well);
  EXPECT_THAT(finding.cure, HasSubstr("make the folder"));
}

TEST_F(DoctorTest, FilesOfTlsAreLookedAtOneByOne) {
  EXPECT_THAT(findings_of("TLS").at(0).found, HasSubstr("not used"));
  const Variable tls("ARGOSY_TLS", folder_.string());
  std::ofstream(folder_ / "certificate.pem") << "none";
  std::ofstream(folder_ / "key.pem") << "secret";
  ::chmod((folder_ / "key.pem").c_str(), 0644);
  const auto found = findings_of("TLS");
  ASSERT_EQ(found.size(), 3);
  for (const Finding& finding : found) EXPECT_FALSE(finding.well) << finding.found;
  EXPECT_THAT(found[0].found, HasSubstr("ca.pem' cannot be read"));
  EXPECT_THAT(found[1].found, HasSubstr("certificate.pem' is no certificate"));
  EXPECT_THAT(found[2].found, HasSubstr("key.pem' can be read by others"));
  EXPECT_THAT(found[2].cure, HasSubstr("chmod 600"));
  ::chmod((folder_ / "key.pem").c_str(), 0600);
  EXPECT_TRUE(findings_of("TLS").at(2).well);
}

}  // namespace
}  // namespace argosy::observe
