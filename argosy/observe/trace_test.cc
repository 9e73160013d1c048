#include "argosy/observe/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "argosy/base/file.h"

namespace argosy::observe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class TraceTest : public testing::Test {
 protected:
  ~TraceTest() override { fs::remove_all(folder_); }
  const fs::path folder_ = fs::temp_directory_path() / fmt::format("argosy-trace-{}", ::getpid());
};

TEST_F(TraceTest, SpansOfAProcessAreInItsFile) {
  {
    const TraceSpan before("before");
  }  // nobody has asked for a trace
  ASSERT_TRUE(start_trace(folder_.string(), "worker 0").ok());
  {
    const TraceSpan span("pull");
  }
  flush_trace();
  const auto text = read_file(folder_ / "trace-worker-0.json");
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("\"args\":{\"name\":\"worker 0\"}"));
  EXPECT_THAT(*text, HasSubstr("{\"name\":\"pull\",\"ph\":\"X\""));
  EXPECT_THAT(*text, HasSubstr("\"thread_name\""));
  EXPECT_THAT(*text, Not(HasSubstr("before")));
}

// A process that was killed leaves a file that ends within an event.
TEST_F(TraceTest, FilesAreJoinedToOneThatIsWhole) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "trace-a.json") << "[\n{\"a\":1},\n{\"a\":2},\n{\"a\"";
  std::ofstream(folder_ / "trace-b.json") << "[\n{\"b\":1},\n";
  std::ofstream(folder_ / "trace-c.json") << "[";
  ASSERT_TRUE(join_traces(folder_.string()).ok());
  EXPECT_EQ(*read_file(folder_ / "trace.json"), "[\n{\"a\":1},\n{\"a\":2},\n{\"b\":1}\n]\n");
}

}  // namespace
}  // namespace argosy::observe
