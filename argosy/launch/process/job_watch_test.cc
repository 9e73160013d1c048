#include "argosy/launch/process/job_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "argosy/base/file.h"
#include "argosy/base/socket.h"
#include "argosy/base/text.h"

namespace argosy::launch {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class JobWatchTest : public testing::Test {
 protected:
  JobWatchTest() { fs::create_directories(folder_); }
  ~JobWatchTest() override {
    fs::remove_all(folder_);
    ::unsetenv("ARGOSY_METRICS_PORT");
  }

  Settings with_metrics(const std::string& port) {
    ::setenv("ARGOSY_METRICS_PORT", port.c_str(), 1);
    return *Settings::from_environment();
  }
  Result<std::unique_ptr<JobWatch>> start(const JobWatchOptions& options, const Settings& settings) {
    return JobWatch::start({.name = "clicks", .run = "", .folder = folder_.string(), .command = "train"}, {&server_, &worker_},
                           options, settings);
  }
  std::string text(const std::string& name) const {
    const auto found = read_file(folder_ / name);
    return found.ok() ? *found : "";
  }

  const fs::path folder_ = fs::temp_directory_path() / fmt::format("argosy-job-watch-{}", ::getpid());
  ProcessSpec server_{.name = "server 0", .log = (folder_ / "serverlog.0").string()};
  ProcessSpec worker_{.name = "worker 0", .log = (folder_ / "workerlog.0").string()};
};

TEST_F(JobWatchTest, LeavesTheStateInTheFolder) {
  {
    auto watch = start({.quiet = true}, Settings());
    ASSERT_TRUE(watch.ok()) << watch.status().message();
    EXPECT_THAT(text("status.json"), HasSubstr("\"state\":\"starting\""));
    EXPECT_THAT(text("launcher"), HasSubstr(fmt::format("pid={}\n", ::getpid())));
    EXPECT_EQ(text("metrics.json"), "");
    (*watch)->board().started(0, 1);
    (*watch)->finish(0);
    EXPECT_THAT(text("status.json"), HasSubstr("\"state\":\"ended well\""));
  }
  EXPECT_THAT(text("status.txt"), HasSubstr("clicks: ended well"));
}

TEST_F(JobWatchTest, AWatchThatIsDroppedLeavesAFailure) {
  (void)start({.quiet = true}, Settings());
  EXPECT_THAT(text("status.json"), HasSubstr("\"state\":\"failed\""));
}

TEST_F(JobWatchTest, MetricsPortsFollowTheLaunchersOrAreFree) {
  ASSERT_TRUE(choose_metrics_ports({&server_, &worker_}, Settings()).ok());
  EXPECT_TRUE(server_.environment.empty());
  ASSERT_TRUE(choose_metrics_ports({&server_, &worker_}, with_metrics("9400")).ok());
  EXPECT_EQ(server_.environment["ARGOSY_METRICS_PORT"], "9401");
  EXPECT_EQ(worker_.environment["ARGOSY_METRICS_PORT"], "9402");
  ASSERT_TRUE(choose_metrics_ports({&server_, &worker_}, with_metrics("0")).ok());
  EXPECT_NE(server_.environment["ARGOSY_METRICS_PORT"], worker_.environment["ARGOSY_METRICS_PORT"]);
  EXPECT_THAT(choose_metrics_ports({&server_, &worker_}, with_metrics("65534")).message(),
              HasSubstr("would need ports up to 65536"));
}

TEST_F(JobWatchTest, TargetsAreListedForPrometheus) {
  const Settings settings = with_metrics("0");
  ASSERT_TRUE(choose_metrics_ports({&server_, &worker_}, settings).ok());
  const auto watch = start({.quiet = true}, settings);
  ASSERT_TRUE(watch.ok()) << watch.status().message();
  const std::string targets = text("metrics.json");
  EXPECT_THAT(targets, HasSubstr(fmt::format("{{\"targets\":[\"127.0.0.1:{}\"],\"labels\":{{\"job\":\"argosy\",\"argosy_job\":"
                                             "\"clicks\",\"process\":\"worker 0\"}}}}",
                                             worker_.environment["ARGOSY_METRICS_PORT"])));
  const size_t begin = targets.find("127.0.0.1:"), end = targets.find('"', begin);
  const auto page = observe::http_get("http://" + targets.substr(begin, end - begin) + "/metrics", 10);
  ASSERT_TRUE(page.ok()) << page.status().message();
  EXPECT_THAT(*page, HasSubstr("argosy_launcher_processes{state=\"waiting\"} 2\n"));
}

// A target that never answers again is down for ever, and the state of a launcher that has ended is scraped by nobody.
TEST_F(JobWatchTest, TargetsThatHaveEndedAreLeftOnlyWhereTheJobHasFailed) {
  const Settings settings = with_metrics("0");
  const auto left_after = [&](int exit_code) {
    auto watch = start({.quiet = true}, settings);
    if (!watch.ok()) return watch.status().message();
    EXPECT_THAT(text("metrics.json"), HasSubstr("\"process\":\"launcher\""));
    (*watch)->finish(exit_code);
    return text("metrics.json");
  };
  EXPECT_EQ(left_after(0), "[]\n");
  EXPECT_EQ(left_after(143), "[]\n") << "somebody has stopped it";
  EXPECT_THAT(left_after(3), HasSubstr("\"labels\":{\"job\":\"argosy\",\"argosy_job\":\"clicks\",\"process\":\"launcher\","
                                       "\"argosy_ended\":\"failed\"}}]"));
}

TEST_F(JobWatchTest, AStatusPageThatCannotBeOpenedIsAnError) {
  const auto first = start({.quiet = true, .status_port = 0}, Settings());
  ASSERT_TRUE(first.ok()) << first.status().message();
  std::string url;
  for (const std::string& line : split(text("launcher"), '\n')) {
    if (line.starts_with("url=")) url = line.substr(4);
  }
  EXPECT_THAT(*observe::http_get(url + "status.json", 10), HasSubstr("\"job\":\"clicks\""));
  EXPECT_THAT(*observe::http_get(url, 10), HasSubstr("<!doctype html>"));
  EXPECT_THAT(*observe::http_get(url + "launcher", 10), HasSubstr("pid="));
  const int port = Address::parse(url.substr(7, url.size() - 8))->port;
  const auto second = start({.quiet = true, .status_port = port}, Settings());
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.status().message(), HasSubstr(fmt::format("--status_port {}: cannot listen at 127.0.0.1:{}", port, port)));
}

}  // namespace
}  // namespace argosy::launch
