// What servers and workers do where what was read is not what was applied.
#include "argosy/ps/spec/ledger.h"

#include <gmock/gmock.h>

#include <future>

#include "argosy/ps/communicator/make_communicator.h"
#include "argosy/ps/communicator/training_test.h"
#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr Mode kModes[] = {Mode::sync, Mode::half_async, Mode::async, Mode::geo};

Result<wire::LeaveReply> leave(scratch::Worker& worker, uint32_t round, const wire::PassLedger& ledger) {
  wire::LeaveRequest request;
  *request.mutable_caller() = worker.caller();
  request.set_round(round);
  *request.mutable_ledger() = ledger;
  return worker.call<wire::LeaveReply>(wire::LEAVE, request);
}

Status abandon(scratch::Worker& worker, const std::string& why) {
  wire::AbandonRequest request;
  *request.mutable_caller() = worker.caller();
  request.set_why(why);
  return worker.call<wire::AbandonReply>(wire::ABANDON, request).status();
}

// A pass is finished on a server when it has exactly the batches that the pass has; else nothing changes.
TEST(Ledger, AServerThatLacksBatchesDoesNotRecordThePass) {
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  InProcess process(InProcess::options());
  scratch::Worker worker = process.worker(spec, 0);
  ASSERT_OK(worker.hello());
  for (const uint32_t batch : {0u, 2u, 3u}) ASSERT_OK(worker.push({batch_id(0, batch)}, {count_at({1})}));
  wire::PassLedger ledger;
  ledger.set_batches(6);
  const auto refused = leave(worker, 0, ledger);
  EXPECT_EQ(refused.status().code(), Code::data_loss);
  EXPECT_THAT(refused.status().message(), HasSubstr("pass 0 of worker 0 has 6 batches, of which 3 are missing here: 1, 4 to 5"));
  EXPECT_EQ(worker.hello()->window().round(), 0u) << "a replay does not skip the pass";
  ledger.set_batches(3);
  EXPECT_THAT(leave(worker, 0, ledger).status().message(), HasSubstr("1 batch here that the worker did not read: 3"));
  for (const uint32_t batch : {1u, 4u}) ASSERT_OK(worker.push({batch_id(0, batch)}, {count_at({1})}));
  ledger.set_batches(6);
  ledger.add_empty(5);
  ASSERT_OK(leave(worker, 0, ledger));
  EXPECT_EQ(worker.hello()->window().round(), 1u);
}

TEST(Ledger, TheSumsOfSamplesAreCompared) {
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  InProcess process(InProcess::options());
  scratch::Worker worker = process.worker(spec, 0);
  ASSERT_OK(worker.hello());
  ASSERT_OK(worker.push({batch_id(0, 0)}, {count_at({1})}));  // says nothing of samples
  wire::PassLedger ledger;
  ledger.set_batches(1);
  ledger.set_samples(8);
  EXPECT_THAT(leave(worker, 0, ledger).status().message(),
              HasSubstr("read for this server: 8 samples; applied here, in the same batches: 0"));
}

// Those who wait for a worker that has met an error are told the cause at once, though its process lives and says so.
TEST(Ledger, AnAbandonedPassFreesThoseWhoWaitAndFinishesNothing) {
  ServerOptions options = InProcess::options();
  options.lease_seconds = 1000;
  const JobSpec spec = job(Mode::sync, 2, {counting_rows()});
  InProcess process(options);
  scratch::Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  ASSERT_OK(first.push({batch_id(0, 0)}, {count_at({1})}, {}, Position{0, 0}));
  ASSERT_OK(second.push({batch_id(0, 0)}, {count_at({1})}, {}, Position{0, 0}));
  ASSERT_OK(first.push({batch_id(0, 1)}, {count_at({1})}, {}, Position{0, 1}));
  auto waiting = std::async(std::launch::async, [&] { return first.pull_rows(0, {1}, Position{0, 2}, 60); });
  ASSERT_OK(abandon(second, "lines:7: slot 'ids' has no value"));
  ASSERT_OK(second.heartbeat());
  const auto told = waiting.get();
  EXPECT_EQ(told.status().code(), Code::failed_precondition);
  EXPECT_THAT(told.status().message(), HasSubstr("failed in pass 0: lines:7: slot 'ids' has no value"));
  scratch::Worker again = process.worker(spec, 1);
  const auto reply = again.hello();
  ASSERT_OK(reply);
  EXPECT_EQ(reply->window().round(), 0u);
  EXPECT_EQ(reply->window().through(), 1u) << "it goes on where it was";
  ASSERT_OK(again.push({batch_id(0, 1)}, {count_at({1})}, {}, Position{0, 1}));
  ASSERT_OK(first.pull_rows(0, {1}, Position{0, 2}, 60));
}

// A log that was cut short may have lost the end of a pass that its worker has left: the next pass does not cover that up.
TEST(Ledger, APassThatIsNotFinishedHereIsNotPassedOver) {
  InProcess process(InProcess::options());
  scratch::Worker worker = process.worker(job(Mode::async, 1, {counting_rows()}), 0);
  ASSERT_OK(worker.hello());
  ASSERT_OK(worker.push({batch_id(0, 0)}, {count_at({1})}));
  const auto refused = worker.push({batch_id(1, 0)}, {count_at({1})});
  EXPECT_EQ(refused.status().code(), Code::failed_precondition);
  EXPECT_THAT(refused.status().message(), HasSubstr("worker 0 is in pass 1, and pass 0 was not finished here"));
  wire::PassLedger ledger;
  ledger.set_batches(1);
  ASSERT_OK(leave(worker, 0, ledger));
  ASSERT_OK(worker.push({batch_id(1, 0)}, {count_at({1})}));
}

// The books survive a restart, by the log and by a snapshot.
TEST(Ledger, IsKeptWithTheState) {
  const Folder folder;
  ServerOptions options = InProcess::options();
  options.directory = folder.path();
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  InProcess process(options);
  scratch::Worker worker = process.worker(spec, 0);
  ASSERT_OK(worker.hello());
  wire::PassLedger ledger;
  ledger.set_batches(1);
  ledger.set_bad_lines(3);
  ASSERT_OK(worker.push({batch_id(0, 0)}, {count_at({1})}));
  ASSERT_OK(leave(worker, 0, ledger));
  ASSERT_OK(worker.push({batch_id(1, 0)}, {count_at({1})}));
  for (const bool snapshot : {false, true}) {
    if (snapshot) ASSERT_OK(process.server->stop());
    process.restart();
    wire::LedgerRequest request;
    *request.mutable_caller() = worker.caller();
    const auto reply = worker.call<wire::LedgerReply>(wire::LEDGER, request);
    ASSERT_OK(reply);
    ASSERT_EQ(reply->workers(0).passes_size(), 1);
    EXPECT_EQ(reply->workers(0).passes(0).ledger().bad_lines(), 3u);
    EXPECT_EQ(reply->workers(0).open().round(), 1u);
    EXPECT_EQ(reply->workers(0).open().ledger().batches(), 1u);
  }
}

// ---- A worker that goes on after an error, in the same process.

// Row i of the table counts batch i.
JobSpec rows_spec(Mode mode, int workers = 1) {
  JobSpec spec{.mode = mode, .workers = workers, .tables = {dense_table("w", 20000), sparse_table("count", 1)}};
  for (TableSpec& table : spec.tables) table.geo = mode == Mode::geo;
  return spec;
}

struct RowCounter {
  RowCounter(const ClientOptions& options, const JobSpec& spec) : dense(20000) {
    auto connected = Client::connect(options, spec);
    status = connected.status();
    if (!status.ok()) return;
    client = std::move(*connected);
    if (client->worker() == 0) status = client->init_dense(0, std::vector<float>(20000, 0.0f));
    if (status.ok()) status = client->wait_initialised(Deadline::after_seconds(60));
    if (!status.ok()) return;
    auto made = make_communicator({.geo_k_steps = 4, .sync_wait_seconds = 20}, *client);
    status = made.status();
    if (!status.ok()) return;
    communicator = std::move(*made);
    status = communicator->bind_dense(0, dense);
    if (status.ok()) status = communicator->start();
  }

  Status train(uint32_t number) {
    const BatchId batch = communicator->begin_batch(number, 10);
    if (!communicator->wants(batch)) return {};
    const uint64_t key = number;
    float row = 0;
    const float minus = -1;
    const RowRequest request{.table = 1, .keys = std::span(&key, 1), .rows = &row};
    RETURN_IF_ERROR(communicator->pull(std::span(&request, 1)));
    const DenseGradient gradient{.table = 0, .values = ones};
    const RowGradients rows{.table = 1, .keys = std::span(&key, 1), .values = &minus};
    return communicator->step({.batch_id = batch, .samples = 10, .dense = std::span(&gradient, 1), .rows = std::span(&rows, 1)});
  }

  // A pass over batches 0 … n-1, or until an error; `read_error_at` is one of the data.
  Status pass(uint32_t batches, uint32_t read_error_at = ~0u) {
    const auto wanted = communicator->begin_round(1);
    Status end = wanted.status();
    if (end.ok() && !*wanted) return {};
    for (uint32_t i = 0; i < batches && end.ok(); ++i) {
      end = i == read_error_at ? Status::invalid_argument("lines:{}: bad", i) : train(i);
    }
    if (end.ok()) end = communicator->thread_done();
    if (end.ok()) end = communicator->end_round({.lines = batches * 10});
    if (!end.ok()) communicator->abandon_round(end);
    return end;
  }

  std::vector<float> counts(uint32_t batches) {
    std::vector<uint64_t> keys(batches);
    for (uint32_t i = 0; i < batches; ++i) keys[i] = i;
    std::vector<float> rows(batches);
    const RowRequest request{.table = 1, .keys = keys, .rows = rows.data(), .create = false};
    EXPECT_TRUE(client->pull_rows(std::span(&request, 1)).ok());
    return rows;
  }

  Status status;
  std::vector<float> dense;
  const std::vector<float> ones = std::vector<float>(20000, -1.0f);
  std::unique_ptr<Client> client;
  std::unique_ptr<Communicator> communicator;
};

// After an error of its data a worker's pass is not finished, and goes on, in the same process or in the next one.
TEST(Ledger, APassGoesOnAfterAnError) {
  for (const Mode mode : kModes) {
    for (const bool restart : {false, true}) {
      SCOPED_TRACE(fmt::format("{}, restart {}", mode_name(mode), restart));
      Cluster cluster(2);
      auto worker = std::make_unique<RowCounter>(cluster.client(0), rows_spec(mode));
      ASSERT_TRUE(worker->status.ok()) << worker->status.to_string();
      EXPECT_EQ(worker->pass(30, 13).message(), "lines:13: bad");
      EXPECT_THAT(worker->communicator->unfinished().message(), HasSubstr("pass 0 of this worker was not finished"));
      if (restart) {
        EXPECT_THAT(worker->communicator->stop().message(), HasSubstr("lines:13: bad")) << "stopping does not finish it";
        worker->client->fail("ended with status 1");
        worker = std::make_unique<RowCounter>(cluster.client(0), rows_spec(mode));
        ASSERT_TRUE(worker->status.ok()) << worker->status.to_string();
      }
      const Status second = worker->pass(30);
      ASSERT_TRUE(second.ok()) << second.to_string();
      EXPECT_EQ(worker->counts(30), std::vector<float>(30, 1.0f));
      ASSERT_TRUE(worker->pass(30).ok());
      EXPECT_EQ(worker->counts(30), std::vector<float>(30, 2.0f));
      const auto ledger = worker->client->ledger();
      ASSERT_TRUE(ledger.ok());
      ASSERT_EQ(ledger->passes.size(), 2u);
      EXPECT_EQ(ledger->passes[0].samples, 300u);
      EXPECT_EQ(ledger->passes[0].applied_samples(), 300u);
      EXPECT_EQ(ledger->total.lines, 600u);
      EXPECT_TRUE(worker->communicator->stop().ok());
    }
  }
}

// Calls fail in the middle of a pass, because the servers are away for too long: so does the pass, and it goes on when they are
// back.
TEST(Ledger, APassGoesOnAfterServersWereAwayForTooLong) {
  for (const Mode mode : kModes) {
    SCOPED_TRACE(mode_name(mode));
    Cluster cluster(2);
    const auto faults = std::make_shared<Faults>();
    ClientOptions options = cluster.client(0, faults);
    options.server_wait_seconds = 0.05;
    RowCounter worker(options, rows_spec(mode));
    ASSERT_TRUE(worker.status.ok()) << worker.status.to_string();
    for (const int64_t cut : {9, 14, 20}) {
      faults->cut_after = cut;
      const Status failed = worker.pass(40);
      EXPECT_EQ(failed.code(), Code::unavailable) << failed.to_string();
      faults->heal();
    }
    const Status status = worker.pass(40);
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(worker.counts(40), std::vector<float>(40, 1.0f));
    EXPECT_TRUE(worker.communicator->stop().ok());
  }
}

// Runs that a script feeds itself and a pass over a dataset both number their batches from 0.
TEST(Ledger, FedRunsBeforeAPassAreAPassOfTheirOwn) {
  for (const Mode mode : kModes) {
    SCOPED_TRACE(mode_name(mode));
    Cluster cluster(2);
    RowCounter worker(cluster.client(0), rows_spec(mode));
    ASSERT_TRUE(worker.status.ok()) << worker.status.to_string();
    const float minus = -1;
    const uint64_t key = 3;
    const RowGradients rows{.table = 1, .keys = std::span(&key, 1), .values = &minus};
    for (int i = 0; i < 5; ++i) {
      float row = 0;
      const RowRequest request{.table = 1, .keys = std::span(&key, 1), .rows = &row};
      ASSERT_TRUE(worker.communicator->pull(std::span(&request, 1)).ok());
      ASSERT_TRUE(worker.communicator->step({.batch_id = worker.communicator->begin_batch(), .rows = std::span(&rows, 1)}).ok());
    }
    worker.communicator->drop_batch(worker.communicator->begin_batch());
    ASSERT_TRUE(worker.pass(5).ok());
    EXPECT_EQ(worker.counts(5), (std::vector<float>{1, 1, 1, 6, 1}));
    const auto ledger = worker.client->ledger();
    ASSERT_EQ(ledger->passes.size(), 2u);
    EXPECT_THAT(ledger->passes[0].text(), HasSubstr("5 runs, 5 applied once, 0 lost; 1 run ended with an error"));
  }
}

// ---- A server that comes back with less than it had acknowledged.

// The loss is named and counted; the pass that is read again trains what is missing, and nothing twice.
TEST(Ledger, AServerThatWentBackIsFoundOutAndTrainedAgain) {
  for (const Mode mode : {Mode::sync, Mode::half_async, Mode::async}) {
    SCOPED_TRACE(mode_name(mode));
    Cluster cluster(2, [](ServerOptions& options) { options.lease_seconds = 2; }, true);
    RowCounter worker(cluster.client(0), rows_spec(mode));
    ASSERT_TRUE(worker.status.ok()) << worker.status.to_string();
    ASSERT_TRUE(worker.communicator->begin_round(1).ok());
    for (uint32_t i = 0; i < 20; ++i) ASSERT_TRUE(worker.train(i).ok());
    ASSERT_TRUE(worker.communicator->refresh().ok());
    cluster.kill(1);
    cut_log(cluster.folder() / "1" / "log", 7);
    cluster.start(1);
    ASSERT_TRUE(wait_for([&] { return worker.client->went_back(); })) << "a heartbeat finds it out";
    Status failed;
    for (uint32_t i = 20; i < 30 && failed.ok(); ++i) failed = worker.train(i);
    if (failed.ok()) failed = worker.communicator->end_round();
    EXPECT_EQ(failed.code(), Code::data_loss) << failed.to_string();
    EXPECT_THAT(failed.message(), HasSubstr("server 1 (place 1) was started again without"));
    EXPECT_THAT(failed.message(), HasSubstr("batches that it had acknowledged"));
    worker.communicator->abandon_round(failed);
    const Status again = worker.pass(30);
    ASSERT_TRUE(again.ok()) << again.to_string();
    EXPECT_EQ(worker.counts(30), std::vector<float>(30, 1.0f));
    std::vector<float> dense(20000);
    const DenseRequest request{.table = 0, .values = dense};
    ASSERT_TRUE(worker.client->pull_dense(std::span(&request, 1)).ok());
    EXPECT_EQ(dense, std::vector<float>(20000, 30.0f));
  }
}

// In sync mode a push beyond the gap is refused: with the gap closed later, steps and batches would no longer fit together.
TEST(Ledger, AStepBeyondLostOnesIsRefused) {
  Cluster cluster(2, [](ServerOptions& options) { options.lease_seconds = 1000; }, true);
  RowCounter worker(cluster.client(0), rows_spec(Mode::sync));
  ASSERT_TRUE(worker.status.ok()) << worker.status.to_string();
  ASSERT_TRUE(worker.communicator->begin_round(1).ok());
  for (uint32_t i = 0; i < 20; ++i) ASSERT_TRUE(worker.train(i).ok());
  cluster.kill(1);
  cut_log(cluster.folder() / "1" / "log", 7);
  cluster.start(1);
  const Status failed = worker.train(20);
  EXPECT_EQ(failed.code(), Code::data_loss) << failed.to_string();
  EXPECT_TRUE(worker.communicator->went_back());
  worker.communicator->abandon_round(failed);
  const Status again = worker.pass(30);
  ASSERT_TRUE(again.ok()) << again.to_string();
  EXPECT_EQ(worker.counts(30), std::vector<float>(30, 1.0f));
}

// Two processes are one worker: the older one does not come back and fence off the newer one.
TEST(Ledger, AWorkerThatWasReplacedDoesNotGoOn) {
  Cluster cluster(2);
  RowCounter first(cluster.client(0), rows_spec(Mode::async));
  ASSERT_TRUE(first.status.ok()) << first.status.to_string();
  ASSERT_TRUE(first.communicator->begin_round(1).ok());
  RowCounter second(cluster.client(0), rows_spec(Mode::async));
  ASSERT_TRUE(second.status.ok()) << second.status.to_string();
  Status fenced;
  for (uint32_t i = 0; i < 20 && fenced.ok(); ++i) fenced = first.train(i);
  if (fenced.ok()) fenced = first.communicator->end_round();
  EXPECT_EQ(fenced.code(), Code::aborted) << fenced.to_string();
  first.communicator->abandon_round(fenced);
  EXPECT_EQ(first.pass(20).code(), Code::aborted);
  const Status trained = second.pass(20);
  ASSERT_TRUE(trained.ok()) << trained.to_string();
  EXPECT_EQ(second.counts(20), std::vector<float>(20, 1.0f));
}

// Where nobody notices before, the end of the pass does.
TEST(Ledger, AServerThatWentBackCannotFinishThePass) {
  Cluster cluster(2, [](ServerOptions& options) { options.lease_seconds = 1000; }, true);
  RowCounter worker(cluster.client(0), rows_spec(Mode::async));
  ASSERT_TRUE(worker.status.ok()) << worker.status.to_string();
  ASSERT_TRUE(worker.communicator->begin_round(1).ok());
  for (uint32_t i = 0; i < 20; ++i) ASSERT_TRUE(worker.train(i).ok());
  ASSERT_TRUE(worker.communicator->refresh().ok());
  cluster.kill(1);
  cut_log(cluster.folder() / "1" / "log", 7);
  cluster.start(1);
  const Status failed = worker.communicator->end_round();
  EXPECT_EQ(failed.code(), Code::data_loss) << failed.to_string();
  // A heartbeat may have been faster.
  EXPECT_THAT(failed.message(), AnyOf(HasSubstr("pass 0 of worker 0 has 20 batches, of which 7 are missing here: 13 to 19"),
                                      HasSubstr("without 7 batches that it had acknowledged: 13 to 19 of pass 0, of worker 0")));
  EXPECT_THAT(failed.message(), HasSubstr("server 1 (place 1)"));
  EXPECT_TRUE(worker.communicator->went_back());
  worker.communicator->abandon_round(failed);
  const Status again = worker.pass(20);
  ASSERT_TRUE(again.ok()) << again.to_string();
  EXPECT_EQ(worker.counts(20), std::vector<float>(20, 1.0f));
}

// durability=snapshot may lose what came after the last one: the job goes on, and the ledger says how much.
TEST(Ledger, SaysWhatASnapshotDidNotHave) {
  Cluster cluster(
      2,
      [](ServerOptions& options) {
        options.durability = Durability::snapshot;
        options.lease_seconds = 2;
      },
      true);
  RowCounter worker(cluster.client(0), rows_spec(Mode::async));
  ASSERT_TRUE(worker.status.ok()) << worker.status.to_string();
  ASSERT_TRUE(worker.communicator->begin_round(1).ok());
  for (uint32_t i = 0; i < 20; ++i) ASSERT_TRUE(worker.train(i).ok());
  ASSERT_TRUE(worker.communicator->refresh().ok());
  ASSERT_TRUE(wait_for([&] {
    const auto stats = worker.client->stats();
    return stats.ok() && stats->at(1).snapshots > 0;
  }));
  for (uint32_t i = 20; i < 30; ++i) ASSERT_TRUE(worker.train(i).ok());
  ASSERT_TRUE(worker.communicator->refresh().ok());
  cluster.kill(1);
  cluster.start(1);
  testing::internal::CaptureStderr();
  const Status end = worker.communicator->end_round();
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(end.ok()) << end.to_string();
  const auto ledger = worker.client->ledger();
  ASSERT_TRUE(ledger.ok());
  const PassSummary& pass = ledger->passes.at(0);
  EXPECT_EQ(pass.samples, 300u);
  EXPECT_GT(pass.given_up_batches, 0u);
  EXPECT_EQ(pass.given_up_samples, pass.given_up_batches * 10);
  EXPECT_THAT(pass.text(), HasSubstr("given up by choice"));
  // So do the lines of server 0, which has lost nothing itself, and of the worker.
  const std::string line = "pass 0: " + pass.text();
  const size_t first = said.find(line);
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_NE(said.find(line, first + 1), std::string::npos) << said;
}

// A geo worker sends a half of each difference, with two workers, and holds the other half back: after an error it is given up,
// and with a process that dies too.
TEST(Ledger, SaysWhatAGeoWorkerHasGivenUp) {
  Cluster cluster(2);
  const JobSpec spec = rows_spec(Mode::geo, 2);
  auto worker = std::make_unique<RowCounter>(cluster.client(0), spec);
  ASSERT_TRUE(worker->status.ok()) << worker->status.to_string();
  ASSERT_FALSE(worker->pass(8, 4).ok());
  ASSERT_TRUE(worker->pass(8).ok());
  const auto after_an_error = worker->client->ledger();
  ASSERT_TRUE(after_an_error.ok());
  // Of four batches the half of each row's and each dense element's difference.
  EXPECT_DOUBLE_EQ(after_an_error->passes.at(0).given_up_differences, 4 * 0.5 + 20000 * 2);
  EXPECT_THAT(after_an_error->passes[0].text(), HasSubstr("geo: differences of at most 40002 in sum were given up after errors"));
  EXPECT_THAT(after_an_error->to_json(), HasSubstr("\"differences_given_up\": 40002,"));
  ASSERT_TRUE(worker->pass(8).ok());
  EXPECT_EQ(worker->client->ledger()->passes.at(1).given_up_differences, 0) << "of the pass before";

  ASSERT_FALSE(worker->pass(8, 4).ok());
  worker->client->fail("was killed");
  worker = std::make_unique<RowCounter>(cluster.client(0), spec);
  ASSERT_TRUE(worker->status.ok()) << worker->status.to_string();
  for (int pass = 0; pass < 3; ++pass) ASSERT_TRUE(worker->pass(8).ok());
  const auto after_a_kill = worker->client->ledger();
  ASSERT_TRUE(after_a_kill.ok());
  EXPECT_THAT(
      after_a_kill->passes.at(2).text(),
      HasSubstr("what a worker held back (geo: not sent yet; int8: left out by rounding) is given up at its restart (1 restart): "
                "unknown"));
  EXPECT_THAT(after_a_kill->to_json(), HasSubstr("\"differences_given_up\": \"unknown\""));
}

// With int8, what rounding leaves out of a gradient waits in the worker for the next one: an error leaves it there, and a process
// that dies takes it along, which is a choice, and said.
TEST(Ledger, SaysThatRoundingsRestWasLostWithAProcess) {
  for (const WireFormat format : {WireFormat::int8, WireFormat::bfloat16}) {
    SCOPED_TRACE(wire_format_name(format));
    Cluster cluster(2);
    JobSpec spec = rows_spec(Mode::async, 1);
    for (TableSpec& table : spec.tables) table.wire_format = format;
    auto worker = std::make_unique<RowCounter>(cluster.client(0), spec);
    ASSERT_TRUE(worker->status.ok()) << worker->status.to_string();
    ASSERT_FALSE(worker->pass(8, 4).ok());
    ASSERT_TRUE(worker->pass(8).ok());
    EXPECT_FALSE(worker->client->ledger()->passes.at(0).unknown_differences()) << "the process went on";
    ASSERT_FALSE(worker->pass(8, 4).ok());
    worker->client->fail("was killed");
    worker = std::make_unique<RowCounter>(cluster.client(0), spec);
    ASSERT_TRUE(worker->status.ok()) << worker->status.to_string();
    for (int pass = 0; pass < 2; ++pass) ASSERT_TRUE(worker->pass(8).ok());
    const auto ledger = worker->client->ledger();
    ASSERT_TRUE(ledger.ok());
    EXPECT_EQ(ledger->passes.at(1).unknown_differences(), format == WireFormat::int8);
    EXPECT_EQ(ledger->total.text().find("int8: left out by rounding") != std::string::npos, format == WireFormat::int8);
  }
}

}  // namespace
}  // namespace argosy::ps
