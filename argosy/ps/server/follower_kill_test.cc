// A server and its follower as processes, both killed with SIGKILL at random moments while a worker trains: in the end the
// follower has the server's rows.
#include <gmock/gmock.h>

#include <future>

#include "argosy/ps/server/primary_link.h"
#include "argosy/ps/server/server_process_test.h"

namespace argosy::ps {
namespace {

using namespace scratch;

// All that an observer can read of a small table, and how many records have been applied.
struct Seen {
  uint64_t version = 0;
  std::vector<float> rows;
  bool operator==(const Seen&) const = default;
};

Result<Seen> look(const ServerProcess& process, const JobSpec& spec) {
  Worker observer = connect(process, spec, 0, 1);
  RETURN_IF_ERROR(observer.observe().status());
  std::vector<uint64_t> keys;
  for (uint64_t key = 0; key < 400; ++key) keys.push_back(key);
  const auto stats = observer.stats();
  if (!stats.ok()) return stats.status();
  const auto rows = observer.pull_rows(0, keys);
  if (!rows.ok()) return rows.status();
  return Seen{stats->version(), *rows};
}

void end_equal(Mode mode) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Folder folder;
  TableSpec rows = counting_rows();
  rows.rule = "adam";  // the order of the records shows in the bits
  const JobSpec spec = job(mode, 1, {rows});
  ServerProcess primary(ARGOSY_SERVER_PROGRAM,
                        {"--job", "test", "--run-id", kRun, "--directory", folder.path().string(), "--stay", "--lease-seconds",
                         "100", "--log-limit", "30K"});  // snapshots are cut all the time
  primary.start();
  Worker worker = connect(primary, spec, 0, 5);
  ASSERT_TRUE(persist([&] { return worker.hello(); }).ok());
  ServerProcess follower(ARGOSY_SERVER_PROGRAM, {"--follow", primary.endpoint()});
  follower.start();
  std::atomic<bool> done = false;
  auto training = std::async(std::launch::async, [&] {
    Random random(seed);
    for (uint32_t batch = 0; batch < 400; ++batch) {
      std::vector<uint64_t> keys;
      for (uint64_t i = 0; i < 20; ++i) keys.push_back(i * 20 + random.below(20));
      const std::vector<float> values(keys.size() * 2, static_cast<float>(random.below(1000)) / 7);
      const std::optional<Position> step = mode == Mode::sync ? std::optional(Position{0, batch}) : std::nullopt;
      EXPECT_TRUE(persist([&] { return worker.push({batch_id(0, batch)}, {{0, keys, values}}, {}, step); }).ok());
    }
    done = true;
  });
  Random random(seed, 1);
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random.below(100)));
    ServerProcess& victim = random.below(2) == 0 ? primary : follower;
    victim.kill();
    victim.start();
  } while (!done);
  training.get();
  const auto expected = persist([&] { return look(primary, spec); });
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  Result<Seen> found = Status::unavailable("not asked");
  const Deadline deadline = Deadline::after_seconds(30);
  do found = look(follower, spec);
  while (!deadline.passed() && (!found.ok() || found->version != expected->version));
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_TRUE(*found == *expected) << found->version << " of " << expected->version;  // every bit
  EXPECT_EQ(follower.end(), 0);
  EXPECT_EQ(primary.end(), 0);
}

TEST(FollowerKill, EndsEqualInSyncMode) { end_equal(Mode::sync); }
TEST(FollowerKill, EndsEqualInAsyncMode) { end_equal(Mode::async); }

TEST(FollowerKill, GivesUpOnAServerThatIsNotThere) {
  PrimaryLink lost(*rpc::connect_channel("127.0.0.1:1", {}), "");
  const Status found = lost.find(0.5);
  EXPECT_THAT(found.message(), ::testing::HasSubstr("nobody answers at 127.0.0.1:1"));
}

}  // namespace
}  // namespace argosy::ps
