#include "argosy/ps/server/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::ElementsAre;
using testing::HasSubstr;

// ---- Applied once.

TEST(ServerPush, CountsEachBatchOnceWhateverIsRepeated) {
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  InProcess process(InProcess::options());
  Worker worker = process.worker(spec, 0);
  ASSERT_OK(worker.hello());
  EXPECT_EQ(*worker.push({batch_id(0, 0)}, {count_at({7, 9})}), wire::APPLIED);
  EXPECT_EQ(*worker.push({batch_id(0, 0)}, {count_at({7, 9})}), wire::DUPLICATE);
  EXPECT_EQ(*worker.push({batch_id(0, 1)}, {count_at({7})}), wire::APPLIED);
  EXPECT_THAT(*worker.pull_rows(0, {7, 9, 11}), ElementsAre(2, 2, 1, 1, 0, 0));
  const auto mixed = worker.push({batch_id(0, 1), batch_id(0, 2)}, {count_at({7})});
  EXPECT_EQ(mixed.status().code(), Code::internal);
  EXPECT_THAT(mixed.status().message(), HasSubstr("has batch 1 of round 0, which is here, and batch 2 of round 0, which is not"));
}

// A process that was replaced must not change anything, however late its messages arrive.
TEST(ServerPush, FencesOffAnOlderIncarnation) {
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  InProcess process(InProcess::options());
  Worker old_one = process.worker(spec, 0);
  Worker new_one = process.worker(spec, 0);
  ASSERT_OK(old_one.hello());
  ASSERT_OK(old_one.push({batch_id(0, 0)}, {count_at({7})}));
  const auto hello = new_one.hello();
  ASSERT_OK(hello);
  EXPECT_EQ(hello->incarnation(), 2u);
  EXPECT_EQ(hello->window().through(), 1u);  // the new process skips what the old one did
  const auto refused = old_one.push({batch_id(0, 1)}, {count_at({7})});
  EXPECT_EQ(refused.status().code(), Code::aborted);
  EXPECT_THAT(refused.status().message(), HasSubstr("fenced off: worker 0 was started again"));
  EXPECT_EQ(*new_one.push({batch_id(0, 1)}, {count_at({7})}), wire::APPLIED);
  EXPECT_THAT(*new_one.pull_rows(0, {7}), ElementsAre(2, 2));
  EXPECT_EQ(new_one.hello()->incarnation(), 2u);  // saying it again changes nothing
}

// Several workers at once, on rows that they share.
TEST(ServerPush, TakesConcurrentPushesWithoutLosingAny) {
  constexpr int kWorkers = 4, kBatches = 100;
  const JobSpec spec = job(Mode::async, kWorkers, {counting_rows()});
  InProcess process(InProcess::options());
  std::vector<std::future<void>> running;
  for (int i = 0; i < kWorkers; ++i) {
    running.push_back(std::async(std::launch::async, [&, i] {
      Worker worker = process.worker(spec, i);
      ASSERT_OK(worker.hello());
      for (uint32_t batch = 0; batch < kBatches; ++batch) {
        ASSERT_OK(worker.push({batch_id(0, batch)}, {count_at({1, 2, 3, 1000u + batch})}));
      }
    }));
  }
  for (auto& one : running) one.get();
  Worker observer = process.worker(spec, 0);
  ASSERT_OK(observer.observe());
  EXPECT_THAT(*observer.pull_rows(0, {1, 1050}), ElementsAre(400, 400, 4, 4));
  EXPECT_EQ(observer.stats()->batches(), 400u);
}

TEST(ServerPush, RefusesWhatDoesNotFit) {
  const JobSpec spec = job(Mode::async, 1, {counting_rows(), counting_dense()});
  InProcess process(InProcess::options());
  Worker worker = process.worker(spec, 0);
  ASSERT_OK(worker.hello());
  const auto error = [&](auto result) { return result.status().to_string(); };
  EXPECT_THAT(error(worker.push({}, {})), HasSubstr("names no batch"));
  EXPECT_THAT(error(worker.push({batch_id(0, 0), batch_id(1, 0)}, {})), HasSubstr("batches of round 0 and of round 1"));
  EXPECT_THAT(error(worker.push({1}, {{0, {5}, {1, 2, 3}}})), HasSubstr("bytes, 4 more than its sections say"));
  EXPECT_THAT(error(worker.push({1}, {{0, {5}, {1}}})), HasSubstr("shorter than its sections say"));
  EXPECT_THAT(error(worker.push({1}, {{7, {}, {}}})), HasSubstr("there is no table 7; the job has 2"));
  EXPECT_THAT(error(worker.push({1}, {}, {{1, {1, 2}}})), HasSubstr("table 'dense': 2 elements arrived; this server holds 4"));
  EXPECT_THAT(error(worker.push({1}, {}, {{1, {1, 2, 3, 4}}})), HasSubstr("'dense' has no value yet"));
  EXPECT_THAT(error(worker.push({1}, {count_at({1}), count_at({2})})), HasSubstr("expected ascending tables"));
  EXPECT_EQ(*worker.push({1}, {count_at({1})}), wire::APPLIED);  // nothing of the above counts
}

// ---- Steps.

// The server's result is the mean in worker order, in whatever order they arrive.
TEST(ServerSync, AppliesTheMeanOnceEverybodyHasPushed) {
  const JobSpec spec = job(Mode::sync, 2, {counting_rows(), counting_dense()});
  InProcess process(InProcess::options());
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  ASSERT_OK(first.init_dense(1, {0, 0, 0, 0}));
  ASSERT_OK(second.push({batch_id(0, 0)}, {count_at({5, 6}, 4)}, {{1, {-2, -2, -2, -2}}}, Position{0, 0}));
  EXPECT_THAT(*second.pull_rows(0, {5}), ElementsAre(0, 0));
  auto waiting = std::async(std::launch::async, [&] { return second.pull_dense(1, Position{0, 1}); });
  ASSERT_OK(first.push({batch_id(0, 0)}, {count_at({5}, 2)}, {{1, {-4, -4, -4, -4}}}, Position{0, 0}));
  EXPECT_THAT(*waiting.get(), ElementsAre(3, 3, 3, 3));
  EXPECT_THAT(*first.pull_rows(0, {5, 6}, Position{0, 1}), ElementsAre(3, 3, 2, 2));
}

// Float addition depends on the order; the order of arrival must not show.
TEST(ServerSync, GivesTheSameBitsInEveryOrderOfArrival) {
  const JobSpec spec = job(Mode::sync, 3, {counting_rows()});
  const std::vector<float> parts = {1e8f, 3.0f, -1e8f};
  std::vector<std::vector<float>> results;
  for (std::vector<int> order : {std::vector<int>{0, 1, 2}, {2, 1, 0}, {1, 2, 0}}) {
    InProcess process(InProcess::options());
    std::vector<Worker> workers;
    for (int i = 0; i < 3; ++i) {
      workers.push_back(process.worker(spec, i));
      ASSERT_OK(workers.back().hello());
    }
    for (const int i : order) {
      const std::vector<uint64_t> keys = i == 1 ? std::vector<uint64_t>{6, 5} : std::vector<uint64_t>{5, 6};
      ASSERT_OK(workers[static_cast<size_t>(i)].push({batch_id(0, 0)}, {count_at(keys, parts[static_cast<size_t>(i)])}, {},
                                                     Position{0, 0}));
    }
    results.push_back(*workers[0].pull_rows(0, {5, 6}, Position{0, 1}));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

// The rate follows the steps in sync mode and the batches of all workers in the others, times the table's factor.
TEST(ServerRates, FollowTheScheduleAndWhatIsSet) {
  TableSpec rows = counting_rows();
  rows.schedule = optim::piecewise_decay({2}, {1.0, 0.5});
  rows.rate_factor = 2;
  const JobSpec spec = job(Mode::async, 2, {rows});
  InProcess process(InProcess::options());
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  ASSERT_OK(first.push({batch_id(0, 0)}, {count_at({5})}));   // 2
  ASSERT_OK(second.push({batch_id(0, 0)}, {count_at({5})}));  // 2
  ASSERT_OK(first.push({batch_id(0, 1)}, {count_at({5})}));   // 1
  EXPECT_THAT(*first.pull_rows(0, {5}), ElementsAre(5, 5));
  wire::SetRateRequest rate;
  *rate.mutable_caller() = first.caller();
  rate.set_table(0);
  rate.set_rate(4);
  ASSERT_OK(first.call<wire::SetRateReply>(wire::SET_RATE, rate));
  ASSERT_OK(first.push({batch_id(0, 2)}, {count_at({5})}));  // 8
  rate.set_back_to_schedule(true);
  ASSERT_OK(first.call<wire::SetRateReply>(wire::SET_RATE, rate));
  ASSERT_OK(first.push({batch_id(0, 3)}, {count_at({5})}));  // 1
  EXPECT_THAT(*first.pull_rows(0, {5}), ElementsAre(14, 14));
  rate.set_back_to_schedule(false);
  rate.set_rate(std::numeric_limits<float>::infinity());
  EXPECT_THAT(first.call<wire::SetRateReply>(wire::SET_RATE, rate).status().message(), HasSubstr("learning rate is inf"));
}

// Unequal amounts of data end without a hang: who has no more leaves, and the round ends when all have.
TEST(ServerSync, GoesOnWithoutWorkersThatLeftTheRound) {
  const JobSpec spec = job(Mode::sync, 2, {counting_rows()});
  InProcess process(InProcess::options());
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  ASSERT_OK(first.push({batch_id(0, 0)}, {count_at({5}, 2)}, {}, Position{0, 0}));
  ASSERT_OK(second.push({batch_id(0, 0)}, {count_at({5}, 2)}, {}, Position{0, 0}));
  ASSERT_OK(second.leave(0, 1));
  ASSERT_OK(first.push({batch_id(0, 1)}, {count_at({5}, 3)}, {}, Position{0, 1}));
  EXPECT_THAT(*first.pull_rows(0, {5}, Position{0, 2}), ElementsAre(5, 5));
  // The second is already in round 1: its push is held until the first has left round 0.
  ASSERT_OK(second.push({batch_id(1, 0)}, {count_at({5}, 1)}, {}, Position{1, 0}));
  ASSERT_OK(first.leave(0, 2));
  ASSERT_OK(first.leave(1, 0));
  EXPECT_THAT(*second.pull_rows(0, {5}, Position{1, 1}), ElementsAre(6, 6));
}

// With two servers a step waits until its pushers have said that both have it; the pull of the next step says so.
TEST(ServerSync, WaitsForTheConfirmationWhereThereAreSeveralServers) {
  const JobSpec spec = job(Mode::sync, 1, {counting_rows()});
  ServerOptions options = InProcess::options();
  options.servers = 2;
  InProcess process(options);
  Worker worker = process.worker(spec, 0);
  worker.set_server(0, 2);
  ASSERT_OK(worker.hello());
  uint64_t key = 0;
  while (server_of(key, 2) != 0) ++key;
  ASSERT_OK(worker.push({batch_id(0, 0)}, {count_at({key})}, {}, Position{0, 0}));
  EXPECT_EQ(worker.stats()->position().step(), 0u);
  EXPECT_THAT(*worker.pull_rows(0, {key}, Position{0, 1}), ElementsAre(1, 1));
  EXPECT_EQ(worker.stats()->position().step(), 1u);
}

TEST(ServerSync, ClipsTheMeanByTheFactorsOfTheWorkers) {
  TableSpec rows = counting_rows(), dense = counting_dense();
  rows.clip_group = dense.clip_group = "all";
  const JobSpec spec = job(Mode::sync, 2, {rows, dense});
  InProcess process(InProcess::options());
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  ASSERT_OK(first.init_dense(1, {0, 0, 0, 0}));
  ASSERT_OK(first.push({batch_id(0, 0)}, {count_at({5}, 2)}, {{1, {-2, 0, 0, 0}}}, Position{0, 0}));
  ASSERT_OK(second.push({batch_id(0, 0)}, {count_at({5}, 6)}, {{1, {-4, 0, 0, 0}}}, Position{0, 0}));
  wire::StepNormsRequest ask;
  *ask.mutable_caller() = first.caller();
  const auto norms = first.call<wire::StepNormsReply>(wire::STEP_NORMS, ask);
  ASSERT_OK(norms);
  EXPECT_FALSE(norms->applied());
  EXPECT_EQ(norms->norms(0).sum_of_squares(), 4 * 4 + 4 * 4 + 3 * 3);
  EXPECT_EQ(first.stats()->position().step(), 0u);
  wire::ApplyStepRequest apply;
  *apply.mutable_caller() = second.caller();
  EXPECT_THAT(second.call<wire::ApplyStepReply>(wire::APPLY_STEP, apply).status().message(),
              HasSubstr("clip group 'all' needs one"));
  wire::Number* factor = apply.add_factors();
  factor->set_name("all");
  factor->set_value(0.5f);
  EXPECT_FALSE(second.call<wire::ApplyStepReply>(wire::APPLY_STEP, apply)->duplicate());
  *apply.mutable_caller() = first.caller();
  EXPECT_TRUE(first.call<wire::ApplyStepReply>(wire::APPLY_STEP, apply)->duplicate());
  EXPECT_THAT(*first.pull_rows(0, {5}, Position{0, 1}), ElementsAre(2, 2));
  EXPECT_EQ((*first.pull_dense(1))[0], 1.5f);
  const auto again = first.call<wire::StepNormsReply>(wire::STEP_NORMS, ask);  // for one that died before it told all servers
  EXPECT_TRUE(again->applied());
  EXPECT_EQ(again->norms(0).sum_of_squares(), 41);
}

TEST(ServerGeo, AddsDifferencesAndTellsTheOthers) {
  TableSpec rows = counting_rows();
  rows.geo = true;
  const JobSpec spec = job(Mode::geo, 2, {rows});
  InProcess process(InProcess::options());
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  ASSERT_OK(first.push({batch_id(0, 0), batch_id(0, 1)}, {{0, {5, 6}, {1, 2, 3, 4}}}));
  const auto changed = [](Worker& worker, uint64_t number) {
    wire::PullChangedRequest ask;
    *ask.mutable_caller() = worker.caller();
    ask.set_number(number);
    ask.add_tables(0);
    return worker.call<wire::PullChangedReply>(wire::PULL_CHANGED, ask)->sections(0).count();
  };
  EXPECT_EQ(changed(second, 1), 2u);
  EXPECT_EQ(changed(second, 1), 2u);  // the answer was lost: the same again
  EXPECT_EQ(changed(second, 2), 0u);
  EXPECT_EQ(changed(first, 1), 0u);
  EXPECT_THAT(*second.pull_rows(0, {5, 6}), ElementsAre(1, 2, 3, 4));
}

// ---- Refusals name both sides.

TEST(ServerHello, RefusesAnotherJobVersionSchemaAndSize) {
  const JobSpec spec = job(Mode::async, 2, {counting_rows()});
  ServerOptions options = InProcess::options();
  options.workers = 2;
  InProcess process(options);
  Worker worker = process.worker(spec, 0);
  const auto refusal = [&](const std::function<void(wire::HelloRequest&)>& alter) {
    wire::HelloRequest hello = worker.hello_request();
    alter(hello);
    return worker.call<wire::HelloReply>(wire::HELLO, hello).status().message();
  };
  EXPECT_THAT(refusal([](auto& h) { h.set_version(9); }),
              HasSubstr(fmt::format("speaks protocol version {}, worker 0 (host:", kProtocolVersion)));
  EXPECT_THAT(refusal([](auto& h) { h.set_job("other"); }), HasSubstr("serves job 'test'; worker 0 (host:"));
  EXPECT_THAT(refusal([](auto& h) { h.set_servers(3); }), HasSubstr("is server 0 of 1; worker 0 (host:"));
  EXPECT_THAT(refusal([](auto& h) { h.mutable_spec()->set_workers(3); }), HasSubstr("expects 2 workers; worker 0 (host:"));
  EXPECT_THAT(refusal([](auto& h) { h.mutable_spec()->mutable_tables(0)->set_rule("adamm"); }), HasSubstr("did you mean 'adam'"));
  ASSERT_OK(worker.hello());
  EXPECT_THAT(refusal([](auto& h) { h.mutable_spec()->mutable_tables(0)->set_width(3); }),
              HasSubstr("another schema: table 'rows': width is 2 at server 0 (in this process, pid"));
  EXPECT_THAT(refusal([](auto& h) { h.set_worker(2); }), HasSubstr("none of the job's 2 workers"));
}

TEST(ServerHello, AnswersHostileBytesWithErrors) {
  InProcess process(InProcess::options());
  for (int method = 0; method < 120; ++method) {
    for (const std::string& header : {std::string(), std::string("\xff\xff\xff\xff\xff"), std::string(300, '\x0a')}) {
      const auto answer = process.link->channel->call_and_wait(
          {static_cast<uint16_t>(method), header, {rpc::Slice::own(std::string(33, 'x'))}}, Deadline::after_seconds(60));
      EXPECT_FALSE(answer.ok()) << "method " << method;
      EXPECT_NE(answer.status().code(), Code::deadline_exceeded) << "method " << method;
    }
  }
}

// ---- Between workers.

TEST(ServerExchange, GathersFromAllAndAnswersReplays) {
  const JobSpec spec = job(Mode::async, 2, {});
  InProcess process(InProcess::options());
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  auto waiting = std::async(std::launch::async, [&] { return second.gather("auc", 1, "two"); });
  EXPECT_THAT(*first.gather("auc", 1, "one"), ElementsAre("one", "two"));
  EXPECT_THAT(*waiting.get(), ElementsAre("one", "two"));
  Worker again = process.worker(spec, 1);
  ASSERT_OK(again.hello());
  EXPECT_THAT(*again.gather("auc", 1, "other"), ElementsAre("one", "two"));  // what was answered stays
  ASSERT_OK(first.goodbye());
  EXPECT_THAT(*again.gather("auc", 2, "alone"), ElementsAre("", "alone"));
}

int next_file(Worker& worker, uint64_t number, uint64_t files) {
  wire::NextFileRequest ask;
  *ask.mutable_caller() = worker.caller();
  ask.set_list("train");
  ask.set_number(number);
  ask.set_files(files);
  const auto reply = worker.call<wire::NextFileReply>(wire::NEXT_FILE, ask);
  EXPECT_TRUE(reply.ok()) << reply.status().message();
  return !reply.ok() || reply->done() ? -1 : static_cast<int>(reply->file());
}

// What a lost worker was reading would be read by nobody. What it had read before is not read again.
TEST(ServerExchange, HandsTheFileOfALostWorkerToAnother) {
  const JobSpec spec = job(Mode::async, 2, {});
  ServerOptions options = InProcess::options();
  options.lease_seconds = 1000;
  options.on_worker_loss = OnWorkerLoss::shrink;
  InProcess process(options);
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  EXPECT_EQ(next_file(first, 1, 4), 0);
  EXPECT_EQ(next_file(second, 1, 4), 1);
  EXPECT_EQ(next_file(second, 2, 4), 2);
  ASSERT_OK(second.fail("ended with status 1"));
  for (const Stopwatch watch; first.stats()->workers(1).state() != "lost";
       std::this_thread::sleep_for(std::chrono::milliseconds(20)))
    ASSERT_LT(watch.seconds(), 60);
  EXPECT_EQ(next_file(first, 2, 4), 2);
  EXPECT_EQ(next_file(first, 3, 4), 3);
  EXPECT_EQ(next_file(first, 4, 4), -1);
}

TEST(ServerExchange, HandsEachFileToOneWorker) {
  const JobSpec spec = job(Mode::async, 2, {});
  InProcess process(InProcess::options());
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  const auto next = [](Worker& worker, uint64_t number) { return next_file(worker, number, 3); };
  EXPECT_EQ(next(first, 1), 0);
  EXPECT_EQ(next(second, 1), 1);
  EXPECT_EQ(next(first, 1), 0);
  EXPECT_EQ(next(first, 2), 2);
  EXPECT_EQ(next(second, 2), -1);
}

TEST(ServerExchange, DeliversMessagesInOrderAndOnce) {
  const JobSpec spec = job(Mode::async, 2, {});
  InProcess process(InProcess::options());
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  const auto post = [&](uint64_t number, std::string bytes) {
    wire::PostRequest ask;
    *ask.mutable_caller() = first.caller();
    ask.set_to(1);
    ask.set_number(number);
    return first.call<wire::PostReply>(wire::POST, ask, {rpc::Slice::own(std::move(bytes))}).status();
  };
  const auto take = [&](uint64_t number, double seconds) -> std::string {
    wire::TakeRequest ask;
    *ask.mutable_caller() = second.caller();
    ask.set_number(number);
    rpc::PayloadBuffer payload;
    const auto reply = second.call<wire::TakeReply>(wire::TAKE, ask, {}, seconds, &payload);
    if (!reply.ok()) return reply.status().to_string();
    return {reinterpret_cast<const char*>(payload.data()), payload.size()};
  };
  auto waiting = std::async(std::launch::async, [&] { return take(0, 10); });
  ASSERT_OK(post(0, "a"));
  ASSERT_OK(post(0, "a"));
  ASSERT_OK(post(1, "b"));
  EXPECT_EQ(waiting.get(), "a");
  EXPECT_EQ(take(1, 10), "b");
  EXPECT_THAT(take(2, 8), HasSubstr("timed out"));
}

TEST(ServerMaintenance, ExportsAndImportsRows) {
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  InProcess process(InProcess::options());
  Worker worker = process.worker(spec, 0);
  ASSERT_OK(worker.hello());
  wire::ImportRowsRequest put;
  *put.mutable_caller() = worker.caller();
  std::vector<uint64_t> keys;
  std::vector<float> values;
  for (uint64_t i = 0; i < 1000; ++i) {
    keys.push_back(i * 7);
    values.insert(values.end(), {static_cast<float>(i), 1});
  }
  put.set_count(keys.size());
  ASSERT_OK(worker.call<wire::ImportRowsReply>(wire::IMPORT_ROWS, put, {rpc::Slice::own(keys), rpc::Slice::own(values)}));
  std::map<uint64_t, float> seen;
  wire::ExportRowsRequest get;
  *get.mutable_caller() = worker.caller();
  get.set_max_bytes(2000);
  for (;;) {
    for (int repeat = 0; repeat < 2; ++repeat) {  // each piece twice: an answer may be lost
      rpc::PayloadBuffer payload;
      const auto piece = worker.call<wire::ExportRowsReply>(wire::EXPORT_ROWS, get, {}, 10, &payload);
      ASSERT_OK(piece);
      const auto piece_keys = payload.values<uint64_t>(0, piece->count());
      const auto piece_values = payload.values<float>(piece->count() * 8, piece->count() * 2);
      for (size_t i = 0; i < piece_keys.size(); ++i) seen[piece_keys[i]] = piece_values[i * 2];
      get.set_session(piece->session());
      if (repeat == 1) {
        if (piece->done()) {
          ASSERT_EQ(seen.size(), 1000u);
          EXPECT_EQ(seen[700], 100);
          return;
        }
      }
    }
    get.set_number(get.number() + 1);
  }
}

TEST(ServerLife, EndsWhenAllWorkersHaveSaidGoodbye) {
  const JobSpec spec = job(Mode::async, 2, {});
  InProcess process(InProcess::options());
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  ASSERT_OK(first.goodbye());
  EXPECT_FALSE(*process.server->wait(Deadline::after_seconds(0.05)));
  ASSERT_OK(second.goodbye());
  ASSERT_OK(second.goodbye());
  EXPECT_TRUE(*process.server->wait(Deadline::after_seconds(60)));
}

}  // namespace
}  // namespace argosy::ps
