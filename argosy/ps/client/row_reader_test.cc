// A reader of several servers, and of followers in their place.
#include "argosy/ps/client/row_reader.h"

#include <gmock/gmock.h>

#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::ElementsAre;
using testing::HasSubstr;

class RowReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 2; ++i) {
      servers.push_back(start(i, kRun));
      Worker& worker = workers.emplace_back(link_to(*servers.back()), spec, 0, 5);
      worker.set_server(i, 2);
      ASSERT_OK(worker.hello());
    }
  }
  std::unique_ptr<Server> start(int server, const std::string& run) {
    ServerOptions options = InProcess::options();
    options.address = "127.0.0.1:0";
    options.directory = folder.path() / (run + std::to_string(server));
    options.server = server;
    options.servers = 2;
    options.run = run;
    auto started = Server::start(options);
    ARGOSY_CHECK(started.ok(), started.status().message());
    return std::move(*started);
  }
  static std::unique_ptr<Server> follow(const Server& server) {
    ServerOptions options;
    options.follow = server.endpoint();
    auto started = Server::start(options);
    ARGOSY_CHECK(started.ok(), started.status().message());
    return std::move(*started);
  }
  static std::shared_ptr<Link> link_to(const Server& server) {
    auto link = std::make_shared<Link>();
    link->channel = std::move(*rpc::connect_channel(server.endpoint(), {}));
    return link;
  }
  static auto connect(std::vector<std::string> endpoints, double seconds = 10) {
    return RowReader::connect({.endpoints = std::move(endpoints), .wait_seconds = seconds});
  }
  // Adds 1 to some rows of each server, and gives the dense table values.
  void train() {
    for (uint64_t key = 0; key < 20; key += 2) {
      ASSERT_OK(
          workers[static_cast<size_t>(server_of(key, 2))].push({batch_id(0, static_cast<uint32_t>(key))}, {count_at({key})}));
    }
    for (int i = 0; i < 2; ++i) {
      const Range range = dense_range(spec, 1, 2, i);
      std::vector<float> values;
      for (uint64_t at = range.begin; at < range.begin + range.size(); ++at) values.push_back(static_cast<float>(at));
      if (!values.empty()) ASSERT_OK(workers[static_cast<size_t>(i)].init_dense(1, values));
    }
  }
  void expect_trained(RowReader& reader) {
    std::vector<float> rows(6);
    ASSERT_OK(reader.pull_rows(0, std::vector<uint64_t>{4, 3, 18}, rows));
    EXPECT_THAT(rows, ElementsAre(1, 1, 0, 0, 1, 1));
    std::vector<size_t> missing;
    std::vector<float> more(10);
    ASSERT_OK(reader.pull_rows(0, std::vector<uint64_t>{4, 3, 18, 1, 5}, more, &missing));
    EXPECT_THAT(missing, ElementsAre(1, 3, 4));  // at whichever server they would be
    std::vector<float> dense(4);
    ASSERT_OK(reader.pull_dense(1, dense));
    EXPECT_THAT(dense, ElementsAre(0, 1, 2, 3));
    const auto all = reader.export_rows(0);
    ASSERT_OK(all);
    EXPECT_THAT(all->keys, ElementsAre(0, 2, 4, 6, 8, 10, 12, 14, 16, 18));
    EXPECT_EQ(all->values, std::vector<float>(20, 1));
  }

  Folder folder;
  const JobSpec spec = job(Mode::async, 1, {counting_rows(), counting_dense()});
  std::vector<std::unique_ptr<Server>> servers;
  std::vector<Worker> workers;
};

TEST_F(RowReaderTest, ReadsAllServersInAnyOrder) {
  train();
  const auto reader = connect({servers[1]->endpoint(), servers[0]->endpoint()});
  ASSERT_OK(reader);
  expect_trained(**reader);
  EXPECT_EQ((*reader)->job(), "test");
  EXPECT_EQ((*reader)->run(), kRun);
  const auto sources = (*reader)->sources();
  EXPECT_EQ((*sources)[0].endpoint, servers[0]->endpoint());
  EXPECT_EQ((*sources)[0].follows, "");
  EXPECT_GT((*sources)[0].version, 1u);
}

TEST_F(RowReaderTest, ReadsFollowersAlike) {
  train();
  const auto first = follow(*servers[0]), second = follow(*servers[1]);
  const auto reader = connect({first->endpoint(), second->endpoint()});
  ASSERT_OK(reader);
  expect_trained(**reader);
  EXPECT_EQ((*(*reader)->sources())[1].follows, servers[1]->endpoint());
  const auto mixed = connect({servers[0]->endpoint(), second->endpoint()});
  ASSERT_OK(mixed);
  expect_trained(**mixed);
}

// Two addresses stand for one server (replicas=1): where the first does not answer, the other one does.
TEST_F(RowReaderTest, ReadsTheOtherProcessWhereOneDoesNotAnswer) {
  train();
  const auto reader = connect({"127.0.0.1:1+" + servers[0]->endpoint(), servers[1]->endpoint() + "+127.0.0.1:1"});
  ASSERT_OK(reader);
  expect_trained(**reader);
  EXPECT_EQ((*(*reader)->sources())[0].endpoint, "127.0.0.1:1 or " + servers[0]->endpoint());
}

// Otherwise rows of another server would be taken for those that are not there.
TEST_F(RowReaderTest, RefusesTwoAddressesThatAreNotOfOneServer) {
  train();
  const auto reader = connect({servers[0]->endpoint() + "+" + servers[1]->endpoint(), servers[1]->endpoint()});
  ASSERT_OK(reader);
  expect_trained(**reader);
  ASSERT_OK(servers[0]->stop());
  servers[0].reset();
  std::vector<float> rows(20);
  const Status refused = (*reader)->pull_rows(0, std::vector<uint64_t>{0, 2, 4, 6, 8, 10, 12, 14, 16, 18}, rows);
  EXPECT_THAT(refused.message(), HasSubstr("answers as server 1 now, and did as server 0 before"));
}

TEST_F(RowReaderTest, RefusesListsThatDoNotFit) {
  EXPECT_THAT(connect({servers[0]->endpoint()}).status().message(),
              HasSubstr("none of the 1 endpoints has the rows of server 1"));
  EXPECT_THAT(connect({servers[0]->endpoint(), servers[0]->endpoint()}).status().message(),
              HasSubstr("both have the rows of server 0"));
  EXPECT_THAT(connect({}).status().message(), HasSubstr("no endpoint"));
  EXPECT_THAT(connect({"127.0.0.1:1"}, 0.2).status().message(), HasSubstr("127.0.0.1:1"));
  const auto other = start(1, "fedcba9876543210");
  Worker worker(link_to(*other), spec, 0, 9);
  worker.set_server(1, 2);
  worker.set_run("fedcba9876543210");
  ASSERT_OK(worker.hello());
  EXPECT_THAT(connect({servers[0]->endpoint(), other->endpoint()}).status().message(), HasSubstr("fedcba9876543210"));
}

TEST_F(RowReaderTest, RefusesTablesThatAreNotThereOrOfTheOtherKind) {
  const auto reader = connect({servers[0]->endpoint(), servers[1]->endpoint()});
  ASSERT_OK(reader);
  EXPECT_EQ(*(*reader)->table("dense"), 1u);
  EXPECT_THAT((*reader)->table("none").status().message(), HasSubstr("'rows', 'dense'"));
  std::vector<float> values(4);
  EXPECT_THAT((*reader)->pull_dense(0, values).message(), HasSubstr("is sparse"));
  EXPECT_THAT((*reader)->pull_rows(1, std::vector<uint64_t>{1}, values).message(), HasSubstr("is dense"));
  EXPECT_THAT((*reader)->pull_rows(7, std::vector<uint64_t>{1}, values).message(), HasSubstr("there is no table 7"));
}

}  // namespace
}  // namespace argosy::ps
