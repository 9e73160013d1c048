#include "argosy/ps/server/pass_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Three workers that train rows; what is said goes to stderr.
class PassReportsTest : public testing::Test {
 protected:
  PassReportsTest() {
    state_ = std::move(State::make(job(Mode::async, 3, {counting_rows("emb")}), {.job = "test"})).value();
    for (int worker = 0; worker < 3; ++worker) state_->members().hello(worker, 1, "host:1");
  }
  // A worker has trained so many batches of 10 samples in a pass, and left it.
  void finish(int worker, uint32_t round, uint32_t batches) {
    wire::PassLedger ledger;
    ledger.set_batches(batches);
    ledger.set_samples(batches * 10);
    ledger.set_bad_lines(1);
    for (uint32_t i = 0; i < batches; ++i) train(worker, round, i);
    state_->members().leave(worker, round, &ledger);
  }
  // This server has applied a batch of it, of 10 samples.
  void train(int worker, uint32_t round, uint32_t index) {
    const uint64_t batch = batch_id(round, index);
    const uint64_t incarnation = state_->members().worker(worker).incarnation;
    ASSERT_TRUE(state_->members().begin_push(worker, incarnation, std::span(&batch, 1)).ok());
    state_->members().end_push(worker, std::span(&batch, 1), true, 10);
  }
  template <typename Act>
  static std::string said(const Act& act) {
    testing::internal::CaptureStderr();
    act();
    return testing::internal::GetCapturedStderr();
  }
  std::string of_pass(const PassReports& reports, uint32_t round) {
    return said([&] { reports.report_pass(*state_, round); });
  }
  std::string of_job(PassReports& reports) {
    return said([&] { reports.report_job(*state_, Nonfinite::skip); });
  }

  std::unique_ptr<State> state_;
  PassReports reports_{true};
};

// One line per pass, once its last worker has left it: the sums of all of them.
TEST_F(PassReportsTest, APassIsReportedWhenTheLastWorkerHasLeftIt) {
  finish(0, 0, 2);
  finish(1, 0, 3);
  EXPECT_EQ(of_pass(reports_, 0), "");
  finish(2, 0, 1);
  EXPECT_THAT(of_pass(reports_, 0), HasSubstr("pass 0: 60 samples read, 60 applied once, 0 lost, 3 bad lines skipped"));
  EXPECT_THAT(of_pass(reports_, 0), Not(HasSubstr("without worker")));
}

TEST_F(PassReportsTest, APassWithoutALostWorkerNamesIt) {
  finish(0, 0, 2);
  finish(1, 0, 2);
  state_->members().lose(2);
  EXPECT_THAT(of_pass(reports_, 0), AllOf(HasSubstr("pass 0: 40 samples read"), HasSubstr("; without worker 2, which was lost")));
}

TEST_F(PassReportsTest, APassWithoutBatchesIsNotWorthALine) {
  for (int worker = 0; worker < 3; ++worker) finish(worker, 0, 0);
  EXPECT_EQ(of_pass(reports_, 0), "");
}

// All servers would say the same of passes; of gradients each has its own.
TEST_F(PassReportsTest, OneServerSpeaksOfPassesAndEachOfItsGradients) {
  for (int worker = 0; worker < 3; ++worker) finish(worker, 0, 1);
  PassReports silent(false);
  EXPECT_EQ(of_pass(silent, 0), "");
  state_->tables().set_left_out(0, 5);
  EXPECT_THAT(of_job(silent), AllOf(HasSubstr("nonfinite=skip"), HasSubstr("emb"), HasSubstr("5"), Not(HasSubstr("the job"))));
}

TEST_F(PassReportsTest, TheEndOfAJobIsSaidOnceUntilAWorkerComes) {
  for (int worker = 0; worker < 3; ++worker) finish(worker, 0, 1), finish(worker, 1, 2);
  EXPECT_THAT(of_job(reports_), HasSubstr("the job, 2 passes: 90 samples read, 90 applied once, 0 lost"));
  EXPECT_EQ(of_job(reports_), "");
  reports_.worker_came();
  EXPECT_THAT(of_job(reports_), HasSubstr("the job, 2 passes"));
}

TEST_F(PassReportsTest, AJobThatTrainedNothingSaysSo) {
  EXPECT_THAT(of_job(reports_), HasSubstr("the job: no batch was trained"));
}

// A pass that somebody has begun and not left is not in the sums: it has a line of its own.
TEST_F(PassReportsTest, AnOpenPassIsAWarning) {
  finish(0, 0, 2);
  train(1, 0, 0);
  const std::string text = of_job(reports_);
  EXPECT_THAT(
      text, AllOf(HasSubstr("the job, 1 pass: 20 samples read"), HasSubstr("pass 0 of worker 1"), HasSubstr("is not finished")));
}

TEST_F(PassReportsTest, TheLedgerHasEveryWorkerAndTable) {
  finish(1, 0, 2);
  state_->tables().set_left_out(0, 7);
  const wire::LedgerReply reply = PassReports::ledger_of(*state_);
  ASSERT_EQ(reply.workers_size(), 3);
  EXPECT_EQ(reply.workers(1).passes_size(), 1);
  EXPECT_EQ(reply.nonfinite().at("emb"), 7u);
}

}  // namespace
}  // namespace argosy::ps
