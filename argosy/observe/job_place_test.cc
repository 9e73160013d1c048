#include "argosy/observe/job_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "argosy/base/child_process.h"
#include "argosy/base/file.h"
#include "argosy/base/text.h"

namespace argosy::observe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class JobPlaceTest : public testing::Test {
 protected:
  JobPlaceTest() { fs::create_directories(folder_); }
  ~JobPlaceTest() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  JobPlace place() const { return *JobPlace::find(folder_.string()); }

  const fs::path folder_ = fs::temp_directory_path() / fmt::format("argosy-job-place-{}", ::getpid());
};

TEST_F(JobPlaceTest, AFolderWithoutALauncherIsNoJob) {
  const auto found = JobPlace::find(folder_.string());
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.status().message(), HasSubstr("no job is known in '" + folder_.string() + "'"));
}

TEST_F(JobPlaceTest, AUrlThatIsNoPageOfAJobIsRefusedByName) {
  for (const std::string wrong :
       {"https://127.0.0.1:80", "s3://bucket/logs", "http://", "http:///status", "http://a:b", "http://a:0/"}) {
    const auto found = JobPlace::find(wrong);
    EXPECT_EQ(found.status().code(), Code::invalid_argument) << wrong;
    EXPECT_THAT(found.status().message(), HasSubstr("'" + wrong + "' is no page of a job; expected http://host:port"));
  }
  for (const std::string right : {"http://127.0.0.1:80", "http://node1/", "http://[::1]:80/page"})
    EXPECT_TRUE(JobPlace::find(right).ok()) << right;
}

TEST_F(JobPlaceTest, TheStateOfALauncherThatRunsIsShownAsItIs) {
  write("launcher", launcher_file(""));
  write("status.txt", "job: running, 0:05\n");
  EXPECT_EQ(*place().text(), "job: running, 0:05\n");
  EXPECT_FALSE(place().has_ended());
}

// A later process of the same number is another one: it is neither shown as the job nor stopped.
TEST_F(JobPlaceTest, APidThatIsSomebodyElsesByNowIsLeftAlone) {
  std::string file = launcher_file("");
  const size_t start = file.find("start=") + 6;
  file.insert(start, "9");
  write("launcher", file);
  write("status.txt", "job: running, 0:05\n");
  EXPECT_TRUE(place().has_ended());
  EXPECT_THAT(*place().text(), HasSubstr("was killed"));
  EXPECT_THAT(place().stop(1).message(), HasSubstr("there is nothing to stop"));
}

TEST_F(JobPlaceTest, AJobThatHasEndedIsNotSaidToBeKilled) {
  std::string file = launcher_file("");
  file.insert(file.find("start=") + 6, "9");
  write("launcher", file);
  write("status.txt", "job: ended well, 0:05\n");
  EXPECT_THAT(*place().text(), Not(HasSubstr("was killed")));
}

TEST_F(JobPlaceTest, StopsOnItsOwnMachineOnly) {
  write("launcher", "pid=4711\nstart=1\nhost=some.other.machine\nurl=\n");
  EXPECT_THAT(place().stop(1).message(), HasSubstr("runs on some.other.machine"));
  write("launcher", "nonsense\n");
  EXPECT_THAT(place().stop(1).message(), HasSubstr("does not say which process"));
}

TEST_F(JobPlaceTest, StopWaitsUntilTheLauncherHasEnded) {
  auto child = ChildProcess::start({.command = {"sleep", "600"}});
  ASSERT_TRUE(child.ok());
  std::string stat;
  std::getline(std::ifstream(fmt::format("/proc/{}/stat", child->pid())), stat);
  const auto fields = split(stat.substr(stat.rfind(')') + 1), ' ');
  std::string file = launcher_file("");
  file = fmt::format("pid={}\nstart={}\n{}", child->pid(), fields[20], file.substr(file.find("host=")));
  write("launcher", file);
  EXPECT_TRUE(place().stop(60).ok());
  EXPECT_EQ(child->poll()->signal, SIGTERM);
}

}  // namespace
}  // namespace argosy::observe
