// What is published into a real Redis, and read back.
#include "argosy/publish/publisher.h"

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <thread>

#include "argosy/publish/published_tables.h"
#include "argosy/publish/redis_server_test.h"
#include "argosy/table/spec.h"

namespace argosy::publish {
namespace {

using testing::HasSubstr;
using Kind = Publisher::Report::Kind;

// A job with one sparse table of rows of 2 and one dense table of 3, which tests change by hand.
class FakeJob final : public ps::RowReader {
 public:
  FakeJob() {
    ps::TableSpec rows{.name = "rows", .sparse = true, .width = 2};
    rows.initializer = {.kind = table::RowInitializer::Kind::uniform, .a = -1, .b = 1, .seed = 7};
    spec_.mode = ps::Mode::async;
    ps::TableSpec numbers{.name = "dense", .sparse = false, .size = 3};
    rows.schedule = numbers.schedule = {.kind = "constant", .floats = {0.1f}, .ints = {}};
    spec_.tables = {rows, numbers};
  }

  const ps::JobSpec& spec() const override { return spec_; }
  const std::string& job() const override { return job_; }
  const std::string& run() const override { return run_; }
  Status pull_rows(size_t, std::span<const uint64_t>, std::span<float>, std::vector<size_t>*) override {
    return Status::unimplemented("not asked");
  }
  Status pull_dense(size_t, std::span<float> values) override {
    std::ranges::copy(dense, values.begin());
    return {};
  }
  Result<Rows> export_rows(size_t) override {
    version += trained_while_read;
    if (while_read) while_read();
    Rows all;
    for (const auto& [key, value] : rows) {
      all.keys.push_back(key);
      all.values.insert(all.values.end(), {value, value});
    }
    return all;
  }
  Result<std::vector<Source>> sources() override {
    return std::vector<Source>{{.endpoint = "here:1", .version = version, .lag_seconds = lag}};
  }
  Result<std::vector<Versions>> versions(VersionAction, const std::string&) override {
    return Status::unimplemented("not asked");
  }

  void set(uint64_t key, float value) {
    rows[key] = value;
    ++version;
  }

  std::map<uint64_t, float> rows;
  std::vector<float> dense = {1, 2, 3};
  uint64_t version = 1, trained_while_read = 0;
  double lag = 0;  // of the follower that is read from
  std::function<void()> while_read;

 private:
  ps::JobSpec spec_;
  const std::string job_ = "ctr", run_ = "0123456789abcdef";
};

class PublisherTest : public ::testing::Test {
 protected:
  PublisherOptions options(uint64_t most_delta = 1 << 20) const {
    return {.redis = redis.address(), .name = "", .redis_seconds = 5, .grace_seconds = 1, .most_delta_bytes = most_delta};
  }
  std::unique_ptr<PublishedTables> open() { return value_or_throw(PublishedTables::open(redis.address(), "ctr", 5)); }
  std::unique_ptr<PublishedTables> open_after(Publisher& publisher) {
    throw_if_error(publisher.publish().status());
    return open();
  }
  static std::vector<float> read(PublishedTables& tables, const std::vector<uint64_t>& keys) {
    std::vector<float> rows(keys.size() * 2);
    throw_if_error(tables.pull_rows(0, keys, rows));
    return rows;
  }
  std::vector<std::string> keys() {
    std::vector<std::string> found;
    for (const RedisValue& key : value_or_throw(RedisConnection(redis.address(), 5).call({"KEYS", "*"})).list)
      found.push_back(key.text);
    return found;
  }

  RedisServer redis;
  FakeJob job;
};

TEST_F(PublisherTest, EverythingFirstThenWhatHasChanged) {
  for (uint64_t key = 0; key < 2500; ++key) job.set(key, static_cast<float>(key));
  Publisher publisher(job, options());
  const auto first = value_or_throw(publisher.publish());
  EXPECT_EQ(first.kind, Kind::full);
  EXPECT_EQ(first.version, 1u);
  EXPECT_EQ(first.rows, 2500u);
  const auto tables = open();
  EXPECT_EQ(read(*tables, {7, 2499}), (std::vector<float>{7, 7, 2499, 2499}));
  std::vector<float> dense(3), initial(2);
  ASSERT_TRUE(tables->pull_dense(1, dense).ok());
  EXPECT_EQ(dense, job.dense);
  table::row_initial_value(job.spec().tables[0].initializer, 9999, initial);
  EXPECT_EQ(read(*tables, {9999}), initial);  // one that nobody has trained

  EXPECT_EQ(value_or_throw(publisher.publish()).kind, Kind::nothing);
  job.set(7, -7);
  job.set(3000, 3);
  job.rows.erase(8);
  job.dense[1] = 20;
  const auto second = value_or_throw(publisher.publish());
  EXPECT_EQ(second.kind, Kind::delta);
  EXPECT_EQ(second.version, 2u);
  EXPECT_EQ(second.rows, 2u);
  EXPECT_EQ(second.removed, 1u);
  EXPECT_EQ(read(*tables, {7, 3000, 9}), (std::vector<float>{-7, -7, 3, 3, 9, 9}));
  table::row_initial_value(job.spec().tables[0].initializer, 8, initial);
  EXPECT_EQ(read(*tables, {8}), initial);
  ASSERT_TRUE(tables->pull_dense(1, dense).ok());
  EXPECT_EQ(dense, job.dense);
  EXPECT_EQ(tables->head()->version, 2u);
  EXPECT_EQ(tables->head()->sources, std::to_string(job.version));
}

// More than a transaction should hold: another generation, and the old one goes after its time.
TEST_F(PublisherTest, LargeChangesAreAGenerationAndOldOnesExpire) {
  for (uint64_t key = 0; key < 100; ++key) job.set(key, 1);
  Publisher publisher(job, options(500));
  throw_if_error(publisher.publish().status());
  const auto tables = open();
  for (uint64_t key = 0; key < 100; ++key) job.set(key, 2);
  const auto second = value_or_throw(publisher.publish());
  EXPECT_EQ(second.kind, Kind::full);
  EXPECT_EQ(second.version, 2u);
  EXPECT_EQ(read(*tables, {5, 99}), (std::vector<float>{2, 2, 2, 2}));  // a reader that knew the old one
  const Deadline deadline = Deadline::after_seconds(20);
  while (keys().size() > 4 && !deadline.passed()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_THAT(keys(), testing::UnorderedElementsAre("argosy:{ctr}:head", "argosy:{ctr}:generations", "argosy:{ctr}:2:rows:rows",
                                                    "argosy:{ctr}:2:dense:dense"));
}

// Every read sees all rows of one version, whether it comes as changes or as a generation.
TEST_F(PublisherTest, ReadersSeeOneVersion) {
  std::vector<uint64_t> all(50);
  for (uint64_t key = 0; key < 50; ++key) all[key] = key, job.set(key, 0);
  Publisher publisher(job, options(2000));
  throw_if_error(publisher.publish().status());
  std::atomic<bool> done = false;
  std::thread reading([&] {
    const auto tables = open();
    while (!done) {
      const auto rows = read(*tables, all);
      EXPECT_EQ(rows, std::vector<float>(rows.size(), rows[0]));
    }
  });
  for (int version = 1; version < 100; ++version) {
    for (const uint64_t key : all) job.set(key, static_cast<float>(version));
    if (version % 3 == 0) job.set(1000 + static_cast<uint64_t>(version), 1);
    if (version % 10 == 0)
      for (uint64_t key = 2000; key < 2100; ++key) job.set(key, static_cast<float>(version));  // too much for a delta
    EXPECT_TRUE(publisher.publish().ok());
  }
  done = true;
  reading.join();
}

TEST_F(PublisherTest, ANewPublisherGoesOnWithTheVersions) {
  job.set(1, 1);
  {
    Publisher first(job, options());
    throw_if_error(first.publish().status());
    job.set(1, 2);
    throw_if_error(first.publish().status());
  }
  const auto tables = open();
  Publisher second(job, options());
  const auto report = value_or_throw(second.publish());
  EXPECT_EQ(report.kind, Kind::full);
  EXPECT_EQ(report.version, 3u);
  EXPECT_EQ(read(*tables, {1}), (std::vector<float>{2, 2}));
}

TEST_F(PublisherTest, ARedisThatHasLostEverythingGetsItAgain) {
  job.set(1, 1);
  Publisher publisher(job, options());
  throw_if_error(publisher.publish().status());
  const auto tables = open();
  redis.kill();
  std::vector<float> row(2);
  EXPECT_EQ(tables->pull_rows(0, std::vector<uint64_t>{1}, row).code(), Code::unavailable);
  job.set(1, 5);
  EXPECT_EQ(publisher.publish().status().code(), Code::unavailable);
  redis.start();
  EXPECT_EQ(tables->head().status().code(), Code::unavailable);  // nothing is there, and nothing is made up
  const auto again = value_or_throw(publisher.publish());
  EXPECT_EQ(again.kind, Kind::full);
  EXPECT_EQ(again.version, 2u);
  EXPECT_EQ(read(*tables, {1}), (std::vector<float>{5, 5}));
}

// The rows may be newer than the versions that were asked for before them; what is named covers both.
TEST_F(PublisherTest, VersionsAreNamedAsTheyWereBeforeAndAfterTheTablesWereRead) {
  job.set(1, 1);
  job.trained_while_read = 3;
  Publisher publisher(job, options());
  throw_if_error(publisher.publish().status());
  const auto tables = open();
  EXPECT_EQ(tables->head()->sources, "2-5");
  job.trained_while_read = 0;
  EXPECT_EQ(value_or_throw(publisher.publish()).kind, Kind::delta);  // what came meanwhile is looked for again
  EXPECT_EQ(tables->head()->sources, "5");
}

// Who publishes from a follower that is stuck says so, although there is nothing new to publish, and so do readers.
TEST_F(PublisherTest, LagGrowsWhileTheFollowerIsBehindAndWhileNobodyPublishes) {
  job.set(1, 1);
  Publisher publisher(job, options());
  const auto told = [] {
    for (const observe::Sample& sample : value_or_throw(observe::parse_samples(observe::Registry::process().text())))
      if (sample.name == "argosy_publish_lag_seconds") return sample.value;
    return -1.0;
  };
  const auto seen = [tables = open_after(publisher)] {
    const auto standing = value_or_throw(tables->standing());
    return standing.redis_seconds - standing.head.current_seconds;
  };
  EXPECT_LT(told(), 20);
  EXPECT_LT(seen(), 20);
  job.lag = 100;
  EXPECT_EQ(value_or_throw(publisher.publish()).kind, Kind::nothing);
  EXPECT_THAT(told(), testing::AllOf(testing::Ge(100), testing::Lt(120)));
  EXPECT_THAT(seen(), testing::AllOf(testing::Ge(99.9), testing::Lt(120)));  // to the millisecond
  job.set(1, 2);
  EXPECT_EQ(value_or_throw(publisher.publish()).kind, Kind::delta);
  EXPECT_GE(told(), 100);  // something, but not all
  EXPECT_GE(seen(), 99.9);
  job.lag = 0;
  EXPECT_EQ(value_or_throw(publisher.publish()).kind, Kind::nothing);
  EXPECT_LT(told(), 20);
  const double before = seen();
  EXPECT_LT(before, 20);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_GT(seen(), before);  // nobody publishes: it is not known any more what the servers have
}

TEST_F(PublisherTest, TwoUnderOneNameAreFoundOut) {
  job.set(1, 1);
  Publisher one(job, options()), other(job, options());
  throw_if_error(one.publish().status());
  throw_if_error(other.publish().status());
  job.set(1, 2);
  EXPECT_THAT(one.publish().status().message(), HasSubstr("somebody else publishes 'ctr'"));
}

// The head of one that still runs is renewed all the time: the later one takes the name all the same, with a version that readers
// have not seen.
TEST_F(PublisherTest, ALaterOneTakesTheNameOfOneThatStillRuns) {
  job.set(1, 1);
  Publisher one(job, options());
  throw_if_error(one.publish().status());
  FakeJob same;
  same.set(1, 1);
  int renewed = 0;
  same.while_read = [&] {
    job.set(1, 2);
    throw_if_error(one.publish().status());
    renewed += 1;
  };
  Publisher other(same, options());
  const auto taken = value_or_throw(other.publish());
  EXPECT_EQ(renewed, 1);
  EXPECT_EQ(taken.kind, Kind::full);
  EXPECT_EQ(taken.version, 3u);
  EXPECT_THAT(one.publish().status().message(), HasSubstr("somebody else publishes 'ctr'"));
  EXPECT_EQ(read(*open(), {1}), (std::vector<float>{1, 1}));
}

// Two of one name that look at the same moment: who is late is told who the other is, not that Redis refused.
TEST_F(PublisherTest, WhoIsOvertakenWhileItReadsIsTold) {
  job.set(1, 1);
  Publisher one(job, options());
  throw_if_error(one.publish().status());
  Publisher other(job, options());
  job.set(1, 2);
  job.while_read = [&] {
    job.while_read = nullptr;
    throw_if_error(other.publish().status());
  };
  EXPECT_THAT(one.publish().status().message(), HasSubstr("somebody else publishes 'ctr'"));
  EXPECT_EQ(open()->head()->version, 2u);
}

TEST_F(PublisherTest, WhatWasNotPublishedIsNamed) {
  EXPECT_THAT(PublishedTables::open(redis.address(), "nothing", 5).status().message(),
              HasSubstr("has nothing that was published as 'nothing'"));
  redis.kill();
  EXPECT_THAT(PublishedTables::open(redis.address(), "ctr", 1).status().message(), HasSubstr("Redis at 127.0.0.1:"));
}

}  // namespace
}  // namespace argosy::publish
