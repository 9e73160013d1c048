// Sync steps whose commit failed, or was lost with the process: somebody tries again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/ps/server/server_scratch.h"
#include "argosy/table/log_scratch.h"
#include "argosy/table/log_segment.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::ElementsAre;

ServerOptions options_for(const Folder& folder) {
  ServerOptions options = InProcess::options();
  options.directory = folder.path() / "server-0";
  return options;
}

std::filesystem::path log_file(const Folder& folder) { return table::segment_path(folder.path() / "server-0" / "log", 0); }

wire::Outcome push(Worker& worker, uint32_t step) {
  const auto outcome = worker.push({batch_id(0, step)}, {count_at({5})}, {}, Position{0, step});
  EXPECT_TRUE(outcome.ok()) << outcome.status().message();
  return outcome.ok() ? *outcome : wire::LATE;
}

// The disk takes the last push of a step and not the step itself. When there is room again nobody pushes anything more.
TEST(ServerSteps, AStepThatCouldNotBeLoggedIsCommittedWhenThereIsRoom) {
  Folder folder;
  const JobSpec spec = job(Mode::sync, 1, {counting_rows()});
  InProcess process(options_for(folder));
  Worker worker = process.worker(spec, 0);
  ASSERT_OK(worker.hello());
  push(worker, 0);
  ASSERT_OK(worker.pull_rows(0, {5}, Position{0, 1}));
  const auto before = std::filesystem::file_size(log_file(folder));
  push(worker, 1);
  ASSERT_OK(worker.pull_rows(0, {5}, Position{0, 2}));
  const auto after = std::filesystem::file_size(log_file(folder));
  {
    const table::SmallDisk disk(after + (after - before) - 8);  // a push and nearly a step
    ASSERT_EQ(push(worker, 2), wire::APPLIED);
    EXPECT_EQ(worker.stats()->position().step(), 2u) << "the step is not logged, so it is not applied";
  }
  EXPECT_THAT(*worker.pull_rows(0, {5}, Position{0, 3}), ElementsAre(3, 3));
  process.restart();
  EXPECT_THAT(*worker.pull_rows(0, {5}, Position{0, 3}), ElementsAre(3, 3));
}

// The process died after the last push of a step and before the step: all pushes are in the log, and nobody repeats one.
TEST(ServerSteps, AStepThatWasLostWithTheProcessIsCommittedByTheNextOne) {
  Folder folder;
  const JobSpec spec = job(Mode::sync, 1, {counting_rows()});
  InProcess process(options_for(folder));
  Worker worker = process.worker(spec, 0);
  ASSERT_OK(worker.hello());
  push(worker, 0);
  push(worker, 1);
  ASSERT_OK(worker.pull_rows(0, {5}, Position{0, 2}));
  process.kill();
  uint64_t last = 0;
  {
    auto log = table::RecordLog::open(folder.path() / "server-0" / "log", {});
    ASSERT_OK(log);
    ASSERT_OK((*log)->replay(0, [&](uint64_t position, Bytes) {
      last = position;
      return Status();
    }));
  }
  std::filesystem::resize_file(log_file(folder), last);
  process.start();
  Worker again = process.worker(spec, 0);  // the pusher died too
  const auto hello = again.hello();
  ASSERT_OK(hello);
  EXPECT_EQ(hello->window().through(), 2u);
  EXPECT_THAT(*again.pull_rows(0, {5}, Position{0, 2}), ElementsAre(2, 2));
}

}  // namespace
}  // namespace argosy::ps
