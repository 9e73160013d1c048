// A server that comes back with less than it had acknowledged gives nothing away before that is known and made up for.
#include <gmock/gmock.h>

#include <future>

#include "argosy/ps/client/cluster_test.h"

namespace argosy::ps {
namespace {

using ::testing::HasSubstr;

constexpr double kLong = 1000;  // a lease whose heartbeats are too rare to find anything out
constexpr int kServers = 2;

Deadline patience() { return Deadline::after_seconds(30); }

class Comparing : public ::testing::Test {
 protected:
  std::unique_ptr<Client> connect(int worker) {
    auto client = Client::connect(cluster.client(worker), spec);
    EXPECT_TRUE(client.ok()) << client.status().to_string();
    return client.ok() ? std::move(*client) : nullptr;
  }

  // Batch `index` of a worker adds 1 to the row of each server.
  static Status push(Client& client, uint32_t index) {
    const BatchId batch = batch_id(0, index);
    const float values[] = {-1, -1};
    const RowGradients rows{.table = 0, .keys = keys(), .values = values};
    return client.push({.batches = {&batch, 1}, .dense = {}, .rows = {&rows, 1}});
  }
  static Result<float> count(Client& client, int server) {
    float values[2] = {};
    const RowRequest request{.table = 0, .keys = keys(), .rows = values, .create = false};
    RETURN_IF_ERROR(client.pull_rows({&request, 1}));
    return values[server];
  }
  static std::span<const uint64_t> keys() {  // one on each server, in their order
    static const std::vector<uint64_t> found = [] {
      std::vector<uint64_t> first(kServers);
      for (int server = 0; server < kServers; ++server) {
        while (server_of(first[static_cast<size_t>(server)], kServers) != server) ++first[static_cast<size_t>(server)];
      }
      return first;
    }();
    return found;
  }

  static void barrier(Client& one, Client& other) {
    auto there = std::async(std::launch::async, [&other] { return other.barrier("b", patience()); });
    const Status here = one.barrier("b", patience());
    EXPECT_TRUE(here.ok()) << here.to_string();
    const Status status = there.get();
    EXPECT_TRUE(status.ok()) << status.to_string();
  }

  // Server 1 dies, and its last records with it.
  void lose(size_t records) {
    cluster.kill(1);
    cut_log(cluster.folder() / "1" / "log", records);
    cluster.start(1);
  }

  JobSpec spec{Mode::async, 2, {sparse_table("rows", 1)}};
  Cluster cluster{kServers,
                  [](ServerOptions& options) {
                    options.lease_seconds = kLong;
                    options.snapshot_roots = {std::filesystem::temp_directory_path()};
                  },
                  true};
};

// Ten batches of each worker; those of worker 1 are the last in the log, and both have met since.
class AfterABarrier : public Comparing {
 protected:
  void SetUp() override {
    ASSERT_TRUE(saver && other);
    for (uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(push(*saver, i).ok());
    for (uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(push(*other, i).ok());
    barrier(*saver, *other);
  }
  // What a worker does that was started again, or reads its data again.
  void send_again() {
    const Status found = push(*other, 9);
    EXPECT_EQ(found.code(), Code::data_loss) << found.to_string();
    EXPECT_TRUE(other->went_back());
    ASSERT_TRUE(other->resume().ok());
    for (uint32_t i = 0; i < 10; ++i) {
      if (other->all_had(batch_id(0, i))) continue;
      ASSERT_TRUE(push(*other, i).ok());
    }
  }

  std::unique_ptr<Client> saver = connect(0), other = connect(1);
};

TEST_F(Comparing, NothingIsReadFromAServerThatLacksBatchesOfTheReader) {
  const auto client = connect(0);
  for (uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(push(*client, i).ok());
  lose(3);
  const auto read = count(*client, 1);
  EXPECT_EQ(read.status().code(), Code::data_loss) << read.status().to_string();
  EXPECT_THAT(read.status().message(), HasSubstr("server 1 (place 1) was started again without 3 batches"));
  EXPECT_THAT(read.status().message(), HasSubstr("7 to 9 of pass 0, of worker 0"));
  EXPECT_TRUE(client->went_back());
}

TEST_F(Comparing, AServerThatLacksNothingGoesOn) {
  const auto client = connect(0);
  for (uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(push(*client, i).ok());
  cluster.kill(1);
  cluster.start(1);
  const auto read = count(*client, 1);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(*read, 10);
  EXPECT_FALSE(client->went_back());
}

TEST_F(Comparing, TheEndFindsItToo) {
  const auto client = connect(0);
  for (uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(push(*client, i).ok());
  lose(3);
  const Status stopped = client->stop();
  EXPECT_EQ(stopped.code(), Code::data_loss) << stopped.to_string();
}

TEST_F(Comparing, SoDoesAnOperation) {
  const auto client = connect(0);
  for (uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(push(*client, i).ok());
  lose(3);
  const auto body = [&](uint64_t number) -> Result<std::string> {
    RETURN_IF_ERROR(client->save_snapshot((cluster.folder() / "saved").string(), SnapshotKind::full, {}, number).status());
    return std::string();
  };
  const auto saved = client->once({.kind = "save", .target = "saved"}, body);
  EXPECT_EQ(saved.status().code(), Code::data_loss) << saved.status().to_string();
  EXPECT_FALSE(std::filesystem::exists(cluster.folder() / "saved"));
}

// A save after a barrier saves what all workers had trained before it.
TEST_F(AfterABarrier, AReaderWaitsForBatchesOfOthers) {
  lose(3);
  auto read = std::async(std::launch::async, [&] { return count(*saver, 1); });
  send_again();
  const auto value = read.get();
  ASSERT_TRUE(value.ok()) << value.status().to_string();
  EXPECT_EQ(*value, 20);
}

// A process that is started again finds the barrier passed, and may not save before the others have caught up either.
TEST_F(AfterABarrier, SoDoesOneThatPassesTheBarrierAgain) {
  lose(3);
  const auto again = connect(0);
  auto read = std::async(std::launch::async, [&]() -> Result<float> {
    RETURN_IF_ERROR(again->barrier("b", patience()));
    return count(*again, 1);
  });
  send_again();
  const auto value = read.get();
  ASSERT_TRUE(value.ok()) << value.status().to_string();
  EXPECT_EQ(*value, 20);
}

TEST_F(AfterABarrier, WhoIsDoneCannotSendAgain) {
  ASSERT_TRUE(other->stop().ok());
  cluster.kill(1);
  cut_log(cluster.folder() / "1" / "log", 4);
  cluster.start(1);
  auto late = connect(1);  // its goodbye is among what was lost
  ASSERT_TRUE(late->stop().ok());
  const auto read = count(*saver, 1);
  EXPECT_EQ(read.status().code(), Code::data_loss) << read.status().to_string();
  EXPECT_THAT(read.status().message(), HasSubstr("of worker 1, which is done"));
}

}  // namespace
}  // namespace argosy::ps
