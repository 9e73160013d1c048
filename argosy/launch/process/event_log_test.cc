#include "argosy/launch/process/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "argosy/base/file.h"

namespace argosy::launch {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class EventLogTest : public testing::Test {
 protected:
  ~EventLogTest() override { fs::remove_all(folder_); }

  EventLog open() const { return std::move(EventLog::open(folder_.string())).value(); }
  std::string written() const { return *read_file(fs::directory_iterator(folder_)->path()); }
  static observe::JobView view(double samples) {
    observe::JobView view;
    view.samples = samples;
    view.samples_per_second = 5;
    view.loss = 0.5;
    return view;
  }

  const fs::path folder_ = fs::temp_directory_path() / fmt::format("argosy-event-log-{}", ::getpid());
};

TEST_F(EventLogTest, WritesWhatIsKnown) {
  EventLog log = open();
  observe::JobView now = view(100);
  now.tables = {{.name = "ids", .rows = 3, .memory_bytes = 40, .norm = 0.5, .rows_by_norm = {{0.3, 1}, {1, 2}}},
                {.name = "w", .memory_bytes = 8, .norm = 7},
                {.name = "new", .memory_bytes = 8}};
  now.processes.resize(2);
  now.processes[0].name = "worker 0", now.processes[0].worker = true, now.processes[0].samples_per_second = 5;
  now.processes[1].name = "server 0";
  log.write(now, {});
  EXPECT_THAT(written(), AllOf(HasSubstr("job/samples_per_second"), HasSubstr("job/loss"), HasSubstr("rows/ids"),
                               HasSubstr("memory_bytes/w"), HasSubstr("samples_per_second/worker 0")));
  EXPECT_THAT(written(), AllOf(HasSubstr("norm/ids"), HasSubstr("norms/ids"), HasSubstr("norm/w"), Not(HasSubstr("norms/w")),
                               Not(HasSubstr("norm/new"))));
  EXPECT_THAT(written(), AllOf(Not(HasSubstr("job/auc")), Not(HasSubstr("rows/w")), Not(HasSubstr("server 0"))));
}

// Curves are over samples: before the first there is no place to put a point.
TEST_F(EventLogTest, BeginsWithTheFirstSample) {
  EventLog log = open();
  const size_t before = written().size();
  log.write(view(0), {});
  EXPECT_EQ(written().size(), before);
}

// Workers report sums since their start; a histogram of a step is what came since the last one.
TEST_F(EventLogTest, AHistogramIsWhatCameSinceTheLast) {
  EventLog log = open();
  std::map<std::string, observe::JobBoard::HistogramSum> sums{{"push", {.buckets = {{0.1, 2}, {1, 0}}, .sum = 0.2}}};
  log.write(view(10), sums);
  EXPECT_THAT(written(), HasSubstr("workers/push"));
  const size_t after_one = written().size();
  log.write(view(10), sums);
  const size_t scalars_alone = written().size() - after_one;
  log.write(view(10), {{"push", {.buckets = {{0.1, 2}, {1, 4}}, .sum = 2.2}}});
  EXPECT_GT(written().size() - after_one - scalars_alone, scalars_alone) << "with a histogram";
}

TEST_F(EventLogTest, AFolderThatCannotBeMadeIsNamed) {
  ASSERT_TRUE(write_file_atomically(folder_, "a file").ok());
  EXPECT_THAT(EventLog::open((folder_ / "events").string()).status().message(), HasSubstr(folder_.string()));
}

}  // namespace
}  // namespace argosy::launch
