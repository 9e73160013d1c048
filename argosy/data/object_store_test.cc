#include "argosy/data/object_store.h"

#include <gmock/gmock.h>

#include <thread>

#include "argosy/base/clock.h"
#include "argosy/data/fake_stores_test.h"
#include "argosy/data/pipe.h"
#include "argosy/data/queue_dataset.h"
#include "argosy/data/scratch_files_test.h"
#include "argosy/data/store_retry.h"

namespace argosy::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<std::string> all_of(ByteStream& stream) {
  std::string bytes;
  char piece[4096];
  for (;;) {
    ASSIGN_OR_RETURN(const size_t got, stream.read(piece));
    if (got == 0) return bytes;
    bytes.append(piece, got);
  }
}

std::string numbers(size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) text += fmt::format("1 {}\n", i);
  return text;
}

TEST(StoreUri, IsOfAStoreThatThereIs) {
  for (const char* uri : {"s3://b/k", "gs://b/k", "abfs://c@a/k"}) {
    EXPECT_TRUE(is_store_uri(uri));
    EXPECT_TRUE(check_store_uri(uri).ok());
  }
  EXPECT_FALSE(is_store_uri("hdfs://h/k"));
  EXPECT_TRUE(is_remote_path("hdfs://h/k"));
  ::setenv("ARGOSY_HDFS", "arrow", 1);
  EXPECT_TRUE(is_store_uri("hdfs://h/k"));
  EXPECT_FALSE(is_remote_path("hdfs://h/k"));
  ::unsetenv("ARGOSY_HDFS");
  EXPECT_THAT(check_store_uri("s3a://b/k").message(), HasSubstr("did you mean s3://?"));
  EXPECT_THAT(check_store_uri("s3:///k").message(), HasSubstr("names no bucket"));
  EXPECT_THAT(check_store_uri("s3://b/k?secret_key=x").message(), HasSubstr("seen in logs"));
}

// A request that fails is made again; what came before it is not read again.
TEST(ObjectStream, GoesOnWhereARequestFailed) {
  FakeStores stores;
  const std::string text = numbers(20 << 20);
  stores.set("s3://b/k", text);
  int reads = 0;
  stores.fault = [&](const std::string& kind, const std::string&) {
    return kind == "read" && ++reads % 2 == 0 ? Status::unavailable("reset by peer") : Status();
  };
  const StopSignal stop;
  auto stream = stream_object("s3://b/k", stop);
  ASSERT_TRUE(stream.ok()) << stream.status().message();
  EXPECT_TRUE(*all_of(**stream) == text);
  EXPECT_EQ(reads, 5) << "three pieces, and two that were asked for again";
}

TEST(ObjectStream, OfAStoreThatStaysAwayIsAnErrorInTime) {
  FakeStores stores;
  stores.set("s3://b/k", "1 5\n");
  stores.fault = [](const std::string& kind, const std::string&) {
    return kind == "read" ? Status::unavailable("connection refused") : Status();
  };
  const StopSignal stop;
  auto stream = stream_object("s3://b/k", stop);
  const Stopwatch watch;
  const auto text = all_of(**stream);
  EXPECT_EQ(text.status().code(), Code::unavailable);
  for (const char* part : {"s3://b/k", "connection refused", "ARGOSY_STORE_SECONDS", "AWS_ENDPOINT_URL"})
    EXPECT_THAT(text.status().message(), HasSubstr(part));
  EXPECT_GE(watch.seconds(), 1.5);
  EXPECT_LT(watch.seconds(), 10);
}

TEST(ObjectStream, EndsItsWaitWhenItIsStopped) {
  FakeStores stores;
  ::setenv("ARGOSY_STORE_SECONDS", "600", 1);
  stores.set("s3://b/k", "1 5\n");
  StopSignal stop;
  stores.fault = [](const std::string& kind, const std::string&) {
    return kind == "read" ? Status::unavailable("away") : Status();
  };
  auto stream = stream_object("s3://b/k", stop);
  const Stopwatch watch;
  std::thread stopper([&] {
    while (stores.requests < 5) std::this_thread::yield();
    stop.stop();
  });
  EXPECT_EQ(all_of(**stream).status().code(), Code::cancelled);
  EXPECT_LT(watch.seconds(), 30);
  stopper.join();
}

TEST(ObjectStream, OfAnObjectThatIsReplacedIsAnError) {
  FakeStores stores;
  stores.set("s3://b/k", numbers(9 << 20));
  const StopSignal stop;
  auto stream = stream_object("s3://b/k", stop);
  char byte[1];
  ASSERT_TRUE((*stream)->read(byte).ok());
  stores.set("s3://b/k", numbers(9 << 20));
  EXPECT_THAT(all_of(**stream).status().message(), HasSubstr("'s3://b/k' was replaced while it was read"));
}

TEST(ObjectStore, DoesNotAskAgainForWhatIsNotThereOrNotAllowed) {
  FakeStores stores;
  EXPECT_EQ(read_object("s3://b/none").status().code(), Code::not_found);
  EXPECT_THAT(read_object("s3://b/none").status().message(), HasSubstr("s3://b/none"));
  EXPECT_EQ(stores.requests, 2);
  stores.fault = [](const std::string&, const std::string&) { return Status::permission_denied("AWS Error ACCESS_DENIED"); };
  const Status denied = put_object("s3://b/k", "x");
  EXPECT_EQ(denied.code(), Code::permission_denied);
  EXPECT_THAT(denied.message(), HasSubstr("AWS_ACCESS_KEY_ID"));
  EXPECT_EQ(stores.requests, 3);
}

TEST(ObjectStore, WritesTheWholeAgain) {
  FakeStores stores;
  int puts = 0;
  stores.fault = [&](const std::string& kind, const std::string&) {
    return kind == "put" && ++puts < 4 ? Status::unavailable("503") : Status();
  };
  EXPECT_TRUE(put_object("s3://b/k", "bytes").ok());
  EXPECT_EQ(*read_object("s3://b/k"), "bytes");
  EXPECT_EQ(puts, 4);
  EXPECT_TRUE(remove_object("s3://b/k").ok());
  EXPECT_TRUE(remove_object("s3://b/k").ok()) << "nothing is there, which is what was wanted";
}

TEST(StoreRetry, WaitsLongerEachTimeAndNotForever) {
  StoreRetry retry(60, nullptr);
  for (int64_t failures = 1; failures <= 10; ++failures) {
    const double longest = std::min(5.0, 0.1 * static_cast<double>(1 << (failures - 1)));
    const double time = static_cast<double>(retry.next(failures)->count()) / 1000;
    EXPECT_GE(time, 0.5 * longest) << failures;
    EXPECT_LE(time, longest + 0.002) << failures;
  }
  StoreRetry over(0, nullptr);
  EXPECT_FALSE(over.next(1));
  EXPECT_TRUE(over.given_up());
}

TEST(StoreLimits, AreNumbersOfSeconds) {
  ::setenv("ARGOSY_STORE_SECONDS", "-1", 1);
  EXPECT_THAT(store_limits().status().message(), HasSubstr("ARGOSY_STORE_SECONDS is -1"));
  ::setenv("ARGOSY_STORE_SECONDS", "soon", 1);
  EXPECT_THAT(store_limits().status().message(), HasSubstr("ARGOSY_STORE_SECONDS"));
  ::unsetenv("ARGOSY_STORE_SECONDS");
  EXPECT_EQ(store_limits()->seconds, 60);
}

TEST(MatchingFiles, AreObjectsOfAUri) {
  FakeStores stores;
  for (const char* name : {"day=1/part-0", "day=1/part-1", "day=1/.part-2", "day=1/deep/part-3", "day=2/part-0", "day=2/other"})
    stores.set(std::string("s3://b/") + name, "");
  EXPECT_THAT(*matching_files("s3://b/day=1/part-*"), ElementsAre("s3://b/day=1/part-0", "s3://b/day=1/part-1"));
  EXPECT_THAT(*matching_files("s3://b/day=*/part-0"), ElementsAre("s3://b/day=1/part-0", "s3://b/day=2/part-0"));
  EXPECT_THAT(*matching_files("s3://b/day=[2-9]/*"), ElementsAre("s3://b/day=2/other", "s3://b/day=2/part-0"));
  EXPECT_THAT(*matching_files("s3://b/day=2/other"), ElementsAre("s3://b/day=2/other"));
  EXPECT_THAT(*matching_files("s3://b/day=3/*"), IsEmpty());
  EXPECT_THAT(*matching_files("s3://b/none"), IsEmpty());
}

TEST(MatchingFiles, AreFilesOfAPath) {
  const ScratchFiles folder;
  folder.write("a b", "");
  EXPECT_THAT(*matching_files(folder.path("a*")), ElementsAre(folder.path("a b")));
  EXPECT_THAT(*matching_files("file://" + folder.path("a%20b")), ElementsAre(folder.path("a b")));
}

// The bytes of an object are a pipe command's standard input, unpacked where its name says so.
TEST(Pipe, ReadsAnObject) {
  FakeStores stores;
  const std::string text = numbers(3 << 20);
  stores.set("s3://b/part-0", text);
  const StopSignal stop;
  const auto read = [&](const std::string& uri, const std::string& command) -> Result<std::string> {
    ASSIGN_OR_RETURN(const auto stream, open_pipe({.path = uri, .command = command}, std::make_shared<StderrTail>(), stop));
    return all_of(*stream);
  };
  EXPECT_TRUE(*read("s3://b/part-0", "cat") == text);
  EXPECT_EQ(*read("s3://b/part-0", "wc -c"), fmt::format("{}\n", text.size()));
  EXPECT_EQ(*read("s3://b/part-0", "head -n 1"), "1 0\n");
  stores.set("s3://b/part-0.gz", "no archive");
  EXPECT_THAT(read("s3://b/part-0.gz", "cat").status().message(), HasSubstr("s3://b/part-0.gz"));
  EXPECT_THAT(read("s3://b/none", "cat").status().message(), HasSubstr("s3://b/none"));
}

DatasetOptions options_of(std::vector<std::string> files) {
  return {.slots = {{.name = "ids", .type = SlotType::int64}}, .batch_size = 7, .files = std::move(files)};
}

Result<std::vector<int64_t>> ids_of(const DatasetOptions& options) {
  QueueDataset dataset(options);
  RETURN_IF_ERROR(dataset.start(1));
  std::vector<int64_t> ids;
  Batch batch;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, dataset.next(0, batch));
    if (!more) return ids;
    for (const int64_t id : ints_of(batch.columns[0])) ids.push_back(id);
  }
}

// Nothing is lost and nothing comes twice where a store fails in the middle of files.
TEST(QueueDataset, CountsOnceUnderAFailingStore) {
  FakeStores stores;
  const ScratchFiles folder;
  std::vector<std::string> uris, paths;
  for (int part = 0; part < 3; ++part) {
    const std::string text = numbers(static_cast<size_t>(9 + part) << 18);
    uris.push_back(fmt::format("s3://b/part-{}", part));
    stores.set(uris.back(), text);
    paths.push_back("file://" + folder.write(fmt::format("part-{}", part), text));
  }
  std::atomic<int> requests = 0;
  stores.fault = [&](const std::string&, const std::string&) {
    return ++requests % 3 != 0 ? Status::unavailable("slow down") : Status();
  };
  const auto ids = ids_of(options_of(uris));
  ASSERT_TRUE(ids.ok()) << ids.status().message();
  EXPECT_TRUE(*ids == *ids_of(options_of(paths)));
}

TEST(QueueDataset, EndsWithTheCauseWhereAnObjectIsMissing) {
  FakeStores stores;
  const Status missing = ids_of(options_of({"s3://b/none"})).status();
  EXPECT_EQ(missing.code(), Code::not_found);
  EXPECT_THAT(missing.message(), HasSubstr("s3://b/none"));
  EXPECT_THAT(ids_of(options_of({"s4://b/none"})).status().message(), HasSubstr("did you mean s3://?"));
}

}  // namespace
}  // namespace argosy::data
