#include "argosy/ps/spec/pass_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/ps/communicator/round_reading.h"
#include "argosy/ps/spec/job_spec.h"

namespace argosy::ps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Window window_of(uint32_t round, std::vector<uint32_t> batches) { return Window(round, 0, batches); }

wire::PassLedger ledger_of(uint32_t batches, std::vector<uint32_t> empty = {}, std::vector<uint32_t> given_up = {}) {
  wire::PassLedger ledger;
  ledger.set_batches(batches);
  ledger.mutable_empty()->Add(empty.begin(), empty.end());
  ledger.mutable_given_up()->Add(given_up.begin(), given_up.end());
  return ledger;
}

// Every number that is on one side only is found, wherever it lies to the unbroken run of the window.
TEST(PassLedger, ComparesBatchByBatch) {
  EXPECT_FALSE(compare(window_of(2, {0, 1, 2}), 2, ledger_of(3)).any());
  EXPECT_FALSE(compare(window_of(2, {0, 1, 3}), 2, ledger_of(4, {2})).any());
  EXPECT_FALSE(compare(window_of(2, {0, 3}), 2, ledger_of(4, {2}, {1})).any());
  EXPECT_FALSE(compare(window_of(1, {}), 2, ledger_of(0)).any()) << "a pass without data";
  EXPECT_THAT(compare(window_of(2, {0, 1, 4, 6}), 2, ledger_of(7)).missing_batches, ElementsAre(2, 3, 5));
  EXPECT_THAT(compare(window_of(1, {0, 1}), 2, ledger_of(3)).missing_batches, ElementsAre(0, 1, 2)) << "nothing of the pass came";
  EXPECT_THAT(compare(window_of(2, {0, 1, 2, 3, 5}), 2, ledger_of(2)).unexpected_batches, ElementsAre(2, 3, 5));
  EXPECT_THAT(compare(window_of(2, {0, 1, 2}), 2, ledger_of(3, {1})).unexpected_batches, ElementsAre(1));
}

// What a peer claims costs neither time nor memory.
TEST(PassLedger, AHugeClaimIsCountedAndNotListed) {
  const PassDifference difference = compare(window_of(0, {0, 1, 7}), 0, ledger_of(4'000'000'000u));
  EXPECT_EQ(difference.missing, 4'000'000'000u - 3);
  EXPECT_LE(difference.missing_batches.size(), 10'000u);
}

TEST(PassLedger, ListsBatchesAsPeopleWould) {
  const std::vector<uint32_t> batches = {3, 7, 8, 9, 40};
  EXPECT_EQ(list_batches(batches, 5), "3, 7 to 9, 40");
  EXPECT_EQ(list_batches(batches, 1005), "3, 7 to 9, 40 and 1,000 more");
}

// The numbers of a dataset's batches, in any order; a gap is a batch all of whose lines were bad.
TEST(RoundReading, KnowsWhichNumbersHadNoSamples) {
  RoundReading reading;
  for (const uint32_t number : {1u, 0u, 5u, 3u}) reading.add(batch_id(4, number), 10);
  const PassReading pass = reading.finish(0);
  EXPECT_EQ(pass.batches, 6u);
  EXPECT_EQ(pass.samples, 40u);
  EXPECT_THAT(pass.empty, ElementsAre(2, 4));
  reading.begin();
  reading.drop(batch_id(5, 1));
  const PassReading runs = reading.finish(3);
  EXPECT_TRUE(runs.fed);
  EXPECT_EQ(runs.batches, 3u);
  EXPECT_THAT(runs.empty, ElementsAre(1));
}

TEST(PassBook, KeepsSumsOfTheOpenPassAndWhatWasSaidOfTheOthers) {
  PassBook book;
  book.applied(0, 2, 20);
  book.applied(0, 1, 5);
  EXPECT_EQ(book.open_samples(0), 25u);
  wire::PassLedger ledger = ledger_of(3);
  ledger.set_samples(25);
  ledger.set_bad_lines(3);
  book.left(0, ledger, 0, 0);
  EXPECT_EQ(book.open_samples(1), 0u);
  book.restarted();
  book.applied(1, 1, 7);
  PassBook again;
  again.restore(book.image());
  ASSERT_NE(again.find(0), nullptr);
  EXPECT_EQ(summary_of(*again.find(0)).text(), "25 samples read, 25 applied once, 0 lost, 3 bad lines skipped");
  EXPECT_EQ(again.open_samples(1), 7u);
  EXPECT_EQ(again.image().open().restarts(), 1u);
}

// A job of a million passes does not outgrow its server, and the totals stay.
TEST(PassBook, ForgetsOldPassesButNotTheirSums) {
  PassBook book;
  wire::PassLedger ledger = ledger_of(2, {1});
  ledger.set_samples(10);
  const uint32_t passes = PassBook::kPasses + 50;
  for (uint32_t i = 0; i < passes; ++i) book.left(i, ledger, 0, 0);
  wire::LedgerReply reply;
  *reply.add_workers() = book.image();
  EXPECT_EQ(reply.workers(0).passes_size(), static_cast<int>(PassBook::kPasses));
  const JobLedger job = join_ledgers(std::span(&reply, 1));
  EXPECT_EQ(job.total.samples, 10u * passes);
  EXPECT_EQ(job.total.batches, passes);
}

// Each server has its own rows of a table. A script may call a table anything.
TEST(JobLedger, AddsUpWhatWasLeftOutOfATable) {
  wire::LedgerReply servers[2];
  (*servers[0].mutable_nonfinite())["rows"] = 2;
  (*servers[1].mutable_nonfinite())["rows"] = 3;
  (*servers[1].mutable_nonfinite())["a \"name\"\n"] = 1;
  const JobLedger job = join_ledgers(servers);
  EXPECT_THAT(job.nonfinite, testing::ElementsAre(testing::Pair("a \"name\"\n", 1u), testing::Pair("rows", 5u)));
  EXPECT_THAT(job.to_json(), testing::HasSubstr(R"("nonfinite": {"a \"name\"\u000a": 1, "rows": 5}})"));
  EXPECT_THAT(join_ledgers(std::span<const wire::LedgerReply>()).to_json(), testing::HasSubstr(R"("nonfinite": {}})"));
}

// A batch that one of two servers has lost has not been applied; what both say of reading counts once.
TEST(JobLedger, JoinsServersAndAddsWorkers) {
  wire::LedgerReply servers[2];
  for (int server = 0; server < 2; ++server) {
    for (uint32_t worker = 0; worker < 2; ++worker) {
      wire::WorkerLedger& one = *servers[server].add_workers();
      one.set_worker(worker);
      wire::PassRecord& pass = *one.add_passes();
      *pass.mutable_ledger() = ledger_of(4);
      pass.mutable_ledger()->set_samples(100);
      if (server == 1 && worker == 0) pass.set_lost_batches(1), pass.set_lost_samples(30);
      one.mutable_open()->set_round(1);
      one.mutable_open()->mutable_ledger()->set_batches(worker);
    }
  }
  const JobLedger job = join_ledgers(servers);
  ASSERT_EQ(job.passes.size(), 1u);
  EXPECT_EQ(job.passes[0].workers, 2);
  EXPECT_EQ(job.passes[0].samples, 200u);
  EXPECT_EQ(job.passes[0].applied_samples(), 170u);
  EXPECT_THAT(job.passes[0].text(),
              HasSubstr("200 samples read, 170 applied once, 30 lost, 0 bad lines skipped; given up by choice"));
  ASSERT_EQ(job.open.size(), 1u);
  EXPECT_EQ(job.open[0].worker, 1);
  EXPECT_THAT(job.to_json(), HasSubstr("\"samples_read\": 200, \"samples_applied\": 170, \"samples_lost\": 30"));
}

// Server 0 is told last, and what the others have lost: its own answer is that of all, and that of all together is no other.
TEST(JobLedger, AServerThatWasToldSpeaksForTheOthers) {
  wire::PassLedger told = ledger_of(4);
  told.set_samples(100);
  PassBook other;
  other.left(0, told, 1, 30);
  told.set_lost_elsewhere_batches(1);
  told.set_lost_elsewhere_samples(30);
  PassBook first;
  first.left(0, told, 0, 0);
  wire::LedgerReply servers[2];
  *servers[0].add_workers() = first.image();
  *servers[1].add_workers() = other.image();
  for (const auto& some : {std::span(servers, 1), std::span(servers, 2)}) {
    EXPECT_EQ(join_ledgers(some).total.applied_samples(), 70u);
    EXPECT_EQ(join_ledgers(some).total.given_up_batches, 1u);
  }
  for (uint32_t i = 1; i <= PassBook::kPasses; ++i) first.left(i, ledger_of(1), 0, 0);
  *servers[0].mutable_workers(0) = first.image();
  EXPECT_EQ(join_ledgers(std::span(servers, 1)).total.given_up_samples, 30u) << "also where the pass is a part of a sum";
}

// Two geo workers, two passes, and the round that a barrier begins: what is not sent is a backlog, and not a sum over passes.
TEST(JobLedger, CountsABacklogOnceAndNoPassWithoutData) {
  wire::LedgerReply reply;
  for (uint32_t worker = 0; worker < 2; ++worker) {
    wire::WorkerLedger& one = *reply.add_workers();
    one.set_worker(worker);
    for (uint32_t round = 0; round < 3; ++round) {
      wire::PassRecord& pass = *one.add_passes();
      pass.set_round(round);
      *pass.mutable_ledger() = ledger_of(round < 2 ? 4 : 0);
      pass.mutable_ledger()->set_unsent(round < 2 ? 100 * (round + 1) : 200);
    }
  }
  const JobLedger job = join_ledgers(std::span(&reply, 1));
  EXPECT_EQ(job.passes.size(), 2u);
  EXPECT_EQ(job.passes[0].unsent, 200);
  EXPECT_EQ(job.total.unsent, 400);
}

// A worker that was lost before it trained anything has given up all the same, and what one server lacks is not applied.
TEST(JobLedger, NamesEveryLostWorker) {
  wire::LedgerReply servers[2];
  for (uint32_t server = 0; server < 2; ++server) {
    for (uint32_t worker = 0; worker < 3; ++worker) {
      wire::WorkerLedger& one = *servers[server].add_workers();
      one.set_worker(worker);
      one.set_state(worker == 0 ? "done" : worker == 1 && server == 1 ? "live" : "lost");
      if (worker == 1) one.mutable_open()->mutable_ledger()->set_batches(5 - server);
      if (worker == 1) one.mutable_open()->mutable_ledger()->set_samples(50 - 10 * server);
    }
  }
  const JobLedger job = join_ledgers(servers);
  ASSERT_EQ(job.open.size(), 2u);
  EXPECT_EQ(job.open[0].samples, 40u);
  EXPECT_TRUE(job.open[0].lost);
  EXPECT_EQ(job.open[1].text(),
            "pass 0 of worker 2, which is lost, is not finished: 0 batches of it (0 samples) applied; given up by choice "
            "(on_worker_loss=shrink): unknown (the rest of worker 2's pass, and its later ones)");
  EXPECT_THAT(job.to_json(), HasSubstr("\"given_up\": \"unknown\""));
}

}  // namespace
}  // namespace argosy::ps
