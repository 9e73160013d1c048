#include "argosy/ps/server/server_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "argosy/ps/server/answer_size.h"
#include "argosy/ps/server/observers.h"
#include "argosy/ps/server/server_scratch.h"

// What callers can make a server hold or make, before and after Hello.
namespace argosy::ps {
namespace {

using namespace scratch;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kPatience = 60;  // for what must come

wire::StatsReply::Limit limit_of(Worker& worker, const std::string& name) {
  const auto stats = worker.stats();
  EXPECT_TRUE(stats.ok()) << stats.status().message();
  for (const auto& limit : stats->limits()) {
    if (limit.name() == name) return limit;
  }
  ADD_FAILURE() << "Stats has no limit '" << name << "'";
  return {};
}

wire::PullRowsRequest pull_of(const Worker& worker, uint64_t keys) {
  wire::PullRowsRequest request;
  *request.mutable_caller() = worker.caller();
  request.add_sections()->set_count(keys);
  return request;
}

// ---- Hello.

TEST(BeforeHello, NothingIsAnswered) {
  const JobSpec spec = job(Mode::async, 1, {counting_rows(), counting_dense()});
  InProcess process(InProcess::options());
  Worker worker = process.worker(spec, 0), stranger = process.worker(spec, 0);
  ASSERT_OK(worker.hello());
  ASSERT_OK(worker.init_dense(1, {1, 2, 3, 4}));
  EXPECT_EQ(stranger.stats().status().code(), Code::unauthenticated);
  EXPECT_THAT(stranger.stats().status().message(), HasSubstr("say Hello first"));
  EXPECT_EQ(stranger.pull_dense(1).status().code(), Code::unauthenticated);
  EXPECT_EQ(stranger.pull_rows(0, {1}).status().code(), Code::unauthenticated);
  EXPECT_EQ(stranger.heartbeat().code(), Code::unauthenticated);
  wire::ExportRowsRequest rows;
  *rows.mutable_caller() = stranger.caller();
  EXPECT_EQ(stranger.call<wire::ExportRowsReply>(wire::EXPORT_ROWS, rows).status().code(), Code::unauthenticated);
  wire::PullStateRequest state;
  *state.mutable_caller() = stranger.caller();
  EXPECT_EQ(stranger.call<wire::PullStateReply>(wire::PULL_STATE, state).status().code(), Code::unauthenticated);
}

TEST(Observer, ReadsAfterAHelloOfItsOwnAndChangesNothing) {
  const JobSpec spec = job(Mode::async, 2, {counting_rows()});
  InProcess process(InProcess::options());
  Worker observer = process.worker(spec, 0), worker = process.worker(spec, 0);
  EXPECT_EQ(observer.observe().status().code(), Code::unavailable);  // there is no job yet
  ASSERT_OK(worker.hello());
  ASSERT_OK(worker.push({batch_id(0, 0)}, {count_at({5}, 3)}));
  const auto hello = observer.observe();
  ASSERT_OK(hello);
  EXPECT_EQ(observer.observe()->incarnation(), hello->incarnation());  // saying it again changes nothing
  EXPECT_THAT(*observer.pull_rows(0, {5}), ElementsAre(3, 3));
  EXPECT_EQ(observer.stats()->workers(0).incarnation(), 1u);
  EXPECT_EQ(observer.stats()->workers(1).state(), "not seen");
  EXPECT_THAT(observer.push({batch_id(0, 1)}, {count_at({5})}).status().message(), HasSubstr("an observer only reads"));
  EXPECT_EQ(limit_of(observer, "observers").now(), 1u);
  wire::HelloRequest other = observer.hello_request();
  other.set_observer(true);
  other.set_job("another");
  EXPECT_EQ(observer.call<wire::HelloReply>(wire::HELLO, other).status().code(), Code::failed_precondition);
  wire::StatsRequest guess;
  *guess.mutable_caller() = observer.caller();
  guess.mutable_caller()->set_incarnation(uint64_t{1} << 63 | 12345);
  EXPECT_EQ(observer.call<wire::StatsReply>(wire::STATS, guess).status().code(), Code::unauthenticated);
}

TEST(Observer, MakesRoomOnlyWhenItIsSilent) {
  Limit limit("observers", 2, "observers", "wait");
  Observers observers(limit);
  const auto first = observers.hello(1), second = observers.hello(2);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(observers.hello(3).status().code(), Code::resource_exhausted);
  EXPECT_TRUE(observers.knows(*first));
  EXPECT_FALSE(observers.knows(*first ^ 1));
  EXPECT_EQ(limit.refused(), 1u);
}

// ---- Answers.

TEST(AnswerSize, DoesNotWrap) {
  Limit limit("max_message_bytes", 1000, "bytes", "ask for less");
  AnswerSize size(limit);
  EXPECT_TRUE(size.add(100, 4).ok());
  EXPECT_FALSE(size.add(uint64_t{1} << 62, 4).ok());
  EXPECT_FALSE(size.add(UINT64_MAX, 1).ok());
  EXPECT_FALSE(size.add(151, 4).ok());
  EXPECT_TRUE(size.add(150, 4).ok());
  EXPECT_EQ(size.bytes(), 1000u);
  EXPECT_EQ(limit.refused(), 3u);
}

// Four megabytes that name one table a million times would have asked for terabytes.
TEST(Answers, AreNotMadeForATableThatIsNamedTwice) {
  const JobSpec spec = job(Mode::async, 1, {counting_dense("w", 1 << 20), counting_rows()});
  InProcess process(InProcess::options());
  Worker worker = process.worker(spec, 0);
  ASSERT_OK(worker.hello());
  ASSERT_OK(worker.init_dense(0, std::vector<float>(1 << 20)));
  wire::PullDenseRequest request;
  *request.mutable_caller() = worker.caller();
  for (int i = 0; i < 1'000'000; ++i) request.add_tables(0);
  const auto pulled = worker.call<wire::PullDenseReply>(wire::PULL_DENSE, request, {}, kPatience);
  EXPECT_EQ(pulled.status().code(), Code::invalid_argument);
  EXPECT_THAT(pulled.status().message(), HasSubstr("'w' is asked for twice"));
  wire::PullRowsRequest rows = pull_of(worker, 0);
  for (int i = 0; i < 1'000'000; ++i) rows.add_sections()->set_table(1);
  EXPECT_EQ(worker.call<wire::PullRowsReply>(wire::PULL_ROWS, rows, {}, kPatience).status().code(), Code::invalid_argument);
  EXPECT_TRUE(worker.pull_dense(0).ok());
}

TEST(Answers, AreBoundedBeforeTheyAreMade) {
  ServerOptions options = InProcess::options();
  options.max_message_bytes = 1 << 20;
  const JobSpec spec = job(Mode::async, 1, {counting_rows("rows", 4096), counting_dense("w", 1 << 19)});
  InProcess process(options);
  Worker worker = process.worker(spec, 0);
  ASSERT_OK(worker.hello());
  std::vector<uint64_t> keys(65);  // of 16 KiB each
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  const auto pulled = worker.pull_rows(0, keys);
  EXPECT_EQ(pulled.status().code(), Code::resource_exhausted);
  EXPECT_THAT(pulled.status().message(), HasSubstr("the limit max_message_bytes is reached: 1048576 bytes in an answer at most"));
  EXPECT_EQ(worker.stats()->tables(0).rows(), 0u) << "rows were made for an answer that cannot be sent";
  keys.resize(64);
  EXPECT_TRUE(worker.pull_rows(0, keys).ok());
  ASSERT_OK(worker.init_dense(1, std::vector<float>(1 << 19)));
  EXPECT_EQ(worker.pull_dense(1).status().code(), Code::resource_exhausted);
  EXPECT_EQ(limit_of(worker, "max_message_bytes").refused(), 2u);
}

TEST(Answers, OfChangedRowsComeInPartsWhereTheyAreLarge) {
  ServerOptions options = InProcess::options();
  options.max_message_bytes = 4096;
  TableSpec table = counting_rows("geo", 4);
  table.geo = true;
  const JobSpec spec = job(Mode::geo, 2, {table});
  InProcess process(options);
  Worker writer = process.worker(spec, 0), reader = process.worker(spec, 1);
  ASSERT_OK(writer.hello());
  ASSERT_OK(reader.hello());
  std::vector<uint64_t> keys(400);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  for (size_t i = 0; i < keys.size(); i += 100) {
    const std::vector<uint64_t> some(keys.begin() + static_cast<std::ptrdiff_t>(i),
                                     keys.begin() + static_cast<std::ptrdiff_t>(i) + 100);
    ASSERT_OK(writer.push({batch_id(0, static_cast<uint32_t>(i))}, {count_at(some, 1, 0, 4)}));
  }
  uint64_t told = 0, calls = 0;
  for (bool more = true; more;) {
    wire::PullChangedRequest request;
    *request.mutable_caller() = reader.caller();
    request.set_number(++calls);
    request.add_tables(0);
    rpc::PayloadBuffer payload;
    const auto reply = reader.call<wire::PullChangedReply>(wire::PULL_CHANGED, request, {}, kPatience, &payload);
    ASSERT_OK(reply);
    EXPECT_LE(payload.size(), 4096u);
    told += reply->sections(0).count();
    more = reply->more();
  }
  EXPECT_EQ(told, keys.size());
  EXPECT_GT(calls, 2u);
}

// ---- What waits.

TEST(Limits, OfCallsThatWait) {
  ServerOptions options = InProcess::options();
  options.parked_limit_bytes = 3000;
  const JobSpec spec = job(Mode::async, 2, {});
  InProcess process(options);
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  auto waiting = std::async(std::launch::async, [&] { return first.gather("a", 1, std::string(2000, 'x'), kPatience); });
  while (limit_of(second, "parked_calls").now() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto refused = first.gather("b", 1, std::string(2000, 'x'), kPatience);
  EXPECT_EQ(refused.status().code(), Code::resource_exhausted);
  EXPECT_THAT(refused.status().message(), HasSubstr("the limit parked_limit is reached: 3000 bytes"));
  EXPECT_THAT(refused.status().message(), HasSubstr("ARGOSY_PARKED_LIMIT"));
  EXPECT_EQ(limit_of(second, "parked_limit").refused(), 1u);
  ASSERT_OK(second.gather("a", 1, "y"));
  EXPECT_TRUE(waiting.get().ok());
  while (limit_of(second, "parked_calls").now() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(limit_of(second, "parked_limit").now(), 0u);
}

TEST(Limits, OfMailThatNobodyTakes) {
  ServerOptions options = InProcess::options();
  options.unread_mail_limit_bytes = 1000;
  const JobSpec spec = job(Mode::async, 2, {});
  InProcess process(options);
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  const auto post = [&](uint64_t number) {
    wire::PostRequest request;
    *request.mutable_caller() = first.caller();
    request.set_to(1);
    request.set_number(number);
    return first.call<wire::PostReply>(wire::POST, request, {rpc::Slice::own(std::string(400, 'x'))}).status();
  };
  const auto take = [&](uint64_t number) {
    wire::TakeRequest request;
    *request.mutable_caller() = second.caller();
    request.set_number(number);
    return second.call<wire::TakeReply>(wire::TAKE, request, {}, 0.3).status();
  };
  ASSERT_OK(post(0));
  ASSERT_OK(post(1));
  const Status refused = post(2);
  EXPECT_EQ(refused.code(), Code::resource_exhausted);
  EXPECT_THAT(refused.message(), HasSubstr("message 2 of worker 0 to worker 1"));
  EXPECT_THAT(refused.message(), HasSubstr("the limit unread_mail_limit is reached: 1000 bytes"));
  EXPECT_EQ(limit_of(second, "unread_mail_limit").now(), 800u);
  ASSERT_OK(take(0));
  ASSERT_OK(take(1));  // says that 0 has arrived
  EXPECT_EQ(limit_of(second, "unread_mail_limit").now(), 400u);
  EXPECT_TRUE(post(2).ok());
  EXPECT_EQ(limit_of(second, "unread_mail_limit").refused(), 1u);
}

TEST(Limits, OfGatherings) {
  ServerOptions options = InProcess::options();
  options.max_message_bytes = 1000;
  const JobSpec spec = job(Mode::async, 2, {});
  InProcess process(options);
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  // Everybody's parts together are one answer.
  auto waiting = std::async(std::launch::async, [&] { return first.gather("a", 1, std::string(600, 'x'), kPatience); });
  while (limit_of(second, "open_gatherings").now() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(limit_of(second, "open_gathering_bytes").now(), 600u);
  EXPECT_EQ(second.gather("a", 1, std::string(600, 'x')).status().code(), Code::resource_exhausted);
  EXPECT_TRUE(second.gather("a", 1, std::string(300, 'x')).ok());
  EXPECT_TRUE(waiting.get().ok());
  EXPECT_EQ(limit_of(second, "open_gatherings").now(), 0u);
  EXPECT_EQ(limit_of(second, "open_gathering_bytes").now(), 0u);
}

TEST(Limits, OfKeysThatAreCountedAndNotAdmitted) {
  ServerOptions options = InProcess::options();
  options.waiting_keys_limit_bytes = 1000;
  TableSpec table = counting_rows();
  table.admission = {.kind = table::Admission::Kind::count, .count = 3};
  const JobSpec spec = job(Mode::async, 1, {table});
  InProcess process(options);
  Worker worker = process.worker(spec, 0);
  ASSERT_OK(worker.hello());
  Status status;
  const Stopwatch watch;
  for (uint32_t i = 0; status.ok() && watch.seconds() < kPatience; ++i) {
    status = worker.push({batch_id(0, i)}, {count_at({i, i + 1'000'000})}).status();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(status.code(), Code::resource_exhausted);
  EXPECT_THAT(status.message(), HasSubstr("the limit waiting_keys_limit is reached: 1000 bytes"));
  EXPECT_GT(limit_of(worker, "waiting_keys_limit").now(), 1000u);
  EXPECT_EQ(limit_of(worker, "waiting_keys_limit").refused(), 1u);
}

TEST(Limits, OfExports) {
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  InProcess process(InProcess::options());
  Worker worker = process.worker(spec, 0);
  ASSERT_OK(worker.hello());
  for (uint32_t i = 0; i < 10; ++i) ASSERT_OK(worker.push({batch_id(0, i)}, {count_at({i})}));
  const auto begin = [&](uint64_t bytes) {
    wire::ExportRowsRequest request;
    *request.mutable_caller() = worker.caller();
    request.set_max_bytes(bytes);
    return worker.call<wire::ExportRowsReply>(wire::EXPORT_ROWS, request);
  };
  Status status;
  for (int i = 0; i < 300 && status.ok(); ++i) status = begin(1).status();
  EXPECT_EQ(status.code(), Code::resource_exhausted);
  EXPECT_THAT(status.message(), HasSubstr("the limit open_exports is reached: 256"));
}

}  // namespace
}  // namespace argosy::ps
