// Files of a lost worker in the hands of another one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/ps/client/client.h"
#include "argosy/ps/client/cluster_test.h"

namespace argosy::ps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Use = FileQuestion::Use;

class Handout : public testing::Test {
 protected:
  std::unique_ptr<Client> connect(int worker) {
    ClientOptions options = cluster_.client(worker);
    options.server_wait_seconds = worker == 0 ? 60 : 1;
    auto client = Client::connect(options, {.mode = Mode::async, .workers = 2, .tables = {sparse_table("emb", 1)}});
    EXPECT_TRUE(client.ok()) << client.status().message();
    return client.ok() ? std::move(*client) : nullptr;
  }
  static Result<std::optional<HandedFile>> next(Client& client, Use use, uint64_t lines = 0) {
    return client.next_file({.list = "list", .files = 3, .reader = 0, .use = use, .round = 0, .lines = lines});
  }
  // Its next file; -1: there is none.
  static int place(Client& client, Use use, uint64_t lines = 0) {
    const auto file = next(client, use, lines);
    EXPECT_TRUE(file.ok()) << file.status().message();
    return file.ok() && *file ? static_cast<int>((*file)->place) : -1;
  }
  static Status push(Client& client, uint32_t batch, std::optional<LineRange> lines = {}) {
    const BatchId id = batch_id(0, batch);
    const BatchLines made_of{id, {.file = 1, .lines = lines.value_or(LineRange{})}};
    const std::vector<uint64_t> keys = {1, 2, 3, 4, 5, 6, 7, 8};
    const std::vector<float> ones(keys.size(), -1);
    const RowGradients rows{.table = 0, .keys = keys, .values = ones.data()};
    return client.push(
        {.batches = std::span(&id, 1), .lines = std::span(&made_of, lines ? 1 : 0), .dense = {}, .rows = std::span(&rows, 1)});
  }
  void lose(std::unique_ptr<Client> client) {
    client->fail("ended with status 1");
    client.reset();
    EXPECT_TRUE(wait_for([&] {
      const auto stats = first_->stats();
      return stats.ok() && (*stats)[0].workers[1].state == "lost" && (*stats)[1].workers[1].state == "lost";
    }));
  }

  Cluster cluster_{2,
                   [](ServerOptions& options) {
                     options.on_worker_loss = OnWorkerLoss::shrink;
                     options.lease_seconds = 1000;
                   },
                   true};
  std::unique_ptr<Client> first_ = connect(0), second_ = connect(1);
};

// Lines that servers have are left out, and those that only some have are counted: nobody can train them for the others alone.
TEST_F(Handout, AFileGoesOnBehindTheLinesThatServersHave) {
  EXPECT_EQ(place(*first_, Use::pass), 0);
  EXPECT_EQ(place(*second_, Use::pass), 1);
  EXPECT_EQ(place(*second_, Use::pass, 12), 2);
  ASSERT_TRUE(push(*second_, 0, LineRange{1, 5}).ok());
  cluster_.kill(1);
  EXPECT_FALSE(push(*second_, 1, LineRange{6, 3}).ok());
  cluster_.start(1);
  EXPECT_EQ(place(*first_, Use::pass), -1) << "nobody is lost yet";
  lose(std::move(second_));
  const auto taken = next(*first_, Use::pass);
  ASSERT_TRUE(taken.ok() && *taken) << taken.status().message();
  EXPECT_EQ((*taken)->place, 1u);
  EXPECT_THAT((*taken)->skip, ElementsAre(LineRange{1, 8}));
  EXPECT_EQ((*taken)->in_parts, 3u);
  EXPECT_EQ((*taken)->lines, 12u);
  const auto half = first_->ledger();
  ASSERT_TRUE(half.ok() && half->open.size() == 1u);
  EXPECT_THAT(half->open[0].text(), HasSubstr("nobody has asked for 1 of its files"));
  EXPECT_THAT(half->open[0].text(), HasSubstr("unknown (the rest of worker 1's files)"));
  EXPECT_EQ(place(*first_, Use::pass), 2) << "it had the second one too";
  EXPECT_EQ(place(*first_, Use::pass), -1);

  for (const int server : {0, 1}) cluster_.kill(server), cluster_.start(server);
  const auto again = connect(0);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(place(*again, Use::pass), 0);
  const auto same = next(*again, Use::pass);
  ASSERT_TRUE(same.ok() && *same) << same.status().message();
  EXPECT_THAT((*same)->skip, ElementsAre(LineRange{1, 8})) << "a worker that is started again reads the same";
  const auto ledger = again->ledger();
  ASSERT_TRUE(ledger.ok() && ledger->open.size() == 1u);
  EXPECT_EQ(ledger->open[0].batches, 1u) << "that all servers have";
  EXPECT_EQ(ledger->open[0].files_handed_on, 2u);
  EXPECT_FALSE(ledger->open[0].unknown_given_up());
  const auto back = connect(1);
  ASSERT_NE(back, nullptr);
  EXPECT_THAT(next(*back, Use::pass).status().message(), HasSubstr("file 1 of it has been handed to another worker"));
}

// A pass that the worker has left is complete, however far behind another worker is in it.
TEST_F(Handout, FilesOfAFinishedPassStayWhereTheyAre) {
  EXPECT_EQ(place(*second_, Use::pass), 0);
  ASSERT_TRUE(push(*second_, 0, LineRange{1, 5}).ok());
  PassReading reading;
  reading.batches = 1;
  ASSERT_TRUE(second_->leave(0, 0, &reading).ok());
  lose(std::move(second_));
  EXPECT_EQ(place(*first_, Use::pass), 1);
  EXPECT_EQ(place(*first_, Use::pass), 2);
  EXPECT_EQ(place(*first_, Use::pass), -1);
}

// What a worker has loaded is not trained before it has loaded all: others can load it instead. Later it is lost with its memory.
TEST_F(Handout, FilesOfALoadAreHandedOutAgainWhileItLasts) {
  EXPECT_EQ(place(*second_, Use::memory), 0);
  EXPECT_EQ(place(*second_, Use::memory), 1);
  EXPECT_EQ(place(*first_, Use::memory), 2);
  lose(std::move(second_));
  EXPECT_EQ(place(*first_, Use::memory), 0);
  EXPECT_EQ(place(*first_, Use::memory), 1);
}

TEST_F(Handout, FilesThatWereLoadedAreLostWithTheirWorker) {
  EXPECT_EQ(place(*second_, Use::memory), 0);
  EXPECT_EQ(place(*second_, Use::memory), 1);
  EXPECT_EQ(place(*second_, Use::memory), 2);
  EXPECT_EQ(place(*second_, Use::memory), -1);
  ASSERT_TRUE(push(*second_, 0).ok());
  lose(std::move(second_));
  EXPECT_EQ(place(*first_, Use::memory), -1);
  EXPECT_TRUE(first_->ledger()->open.at(0).unknown_given_up());
}

// Nobody knows how far a script was that reads its files itself: the ledger says that they may count twice.
TEST_F(Handout, AScriptsFilesCountTwiceAndTheLedgerSaysIt) {
  EXPECT_EQ(place(*second_, Use::script), 0);
  EXPECT_EQ(place(*second_, Use::script), 1);
  lose(std::move(second_));
  const auto taken = next(*first_, Use::script);
  ASSERT_TRUE(taken.ok() && *taken);
  EXPECT_EQ((*taken)->place, 1u) << "of which the worker was in the middle";
  EXPECT_THAT((*taken)->skip, IsEmpty());
  EXPECT_EQ(first_->ledger()->open.at(0).files_twice, 1u);
}

}  // namespace
}  // namespace argosy::ps
