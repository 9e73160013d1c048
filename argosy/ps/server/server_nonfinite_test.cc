// Gradients that are NaN or infinite, by each policy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

class ServerNonfinite : public testing::TestWithParam<Mode> {
 protected:
  std::optional<Position> step(uint32_t number) const {
    return GetParam() == Mode::sync ? std::optional(Position{0, number}) : std::nullopt;
  }
  ServerOptions options(Nonfinite policy) const {
    ServerOptions options = InProcess::options();
    options.nonfinite = policy;
    options.directory = folder_.path() / "server-0";
    return options;
  }
  JobSpec spec() const {
    TableSpec rows = counting_rows();
    rows.value_clip = GetParam() == Mode::sync ? std::optional(ValueClip{-8, 8}) : std::nullopt;
    return job(GetParam(), 1, {rows, counting_dense()});
  }

  const Folder folder_;
};

INSTANTIATE_TEST_SUITE_P(Modes, ServerNonfinite, testing::Values(Mode::sync, Mode::async),
                         [](const auto& mode) { return std::string(mode_name(mode.param)); });

// Today's default: nothing is trained with it, and who reads the error knows where to look.
TEST_P(ServerNonfinite, IsRefusedByName) {
  InProcess process(options(Nonfinite::refuse));
  Worker worker = process.worker(spec(), 0);
  ASSERT_OK(worker.hello());
  ASSERT_OK(worker.init_dense(1, {1, 2, 3, 4}));
  const auto refused = worker.push({batch_id(2, 7)}, {{0, {5, 6}, {0, 0, 0, kNan}}}, {}, step(0));
  EXPECT_EQ(refused.status().code(), Code::invalid_argument);
  EXPECT_THAT(refused.status().message(), HasSubstr("worker 0, batch 7 of pass 2: table 'rows', key 6: number 1"));
  EXPECT_THAT(refused.status().message(), HasSubstr("is nan"));
  const auto dense = worker.push({batch_id(2, 7)}, {}, {{1, {0, 0, -kInf, 0}}}, step(0));
  EXPECT_THAT(dense.status().message(), HasSubstr("table 'dense', element 2: the gradient is -inf"));
  EXPECT_EQ(worker.stats()->tables(0).nonfinite(), 1u);
  EXPECT_EQ(worker.stats()->tables(1).nonfinite(), 1u);
  EXPECT_EQ(worker.stats()->batches(), 0u);
}

// In geo mode, and where several batches are merged, a push is of all of them. A step of sync is of one.
class ServerNonfiniteMerged : public ServerNonfinite {};
INSTANTIATE_TEST_SUITE_P(Modes, ServerNonfiniteMerged, testing::Values(Mode::async),
                         [](const auto& mode) { return std::string(mode_name(mode.param)); });

TEST_P(ServerNonfiniteMerged, NamesAllBatchesThatItMayBeOf) {
  InProcess process(options(Nonfinite::refuse));
  Worker worker = process.worker(spec(), 0);
  ASSERT_OK(worker.hello());
  const auto refused = worker.push({batch_id(0, 9), batch_id(0, 7), batch_id(0, 8)}, {{0, {5}, {0, kNan}}});
  EXPECT_THAT(refused.status().message(), HasSubstr("worker 0, one of batches 7 to 9 of pass 0: table 'rows', key 5"));
}

// What the server says at the end of the job, to its launcher too.
TEST_P(ServerNonfinite, IsCountedPerTableForTheEndOfTheJob) {
  InProcess process(options(Nonfinite::skip));
  Worker worker = process.worker(spec(), 0);
  ASSERT_OK(worker.hello());
  ASSERT_OK(worker.init_dense(1, {1, 2, 3, 4}));
  ASSERT_OK(worker.push({batch_id(0, 0)}, {{0, {5, 6, 7}, {-1, kInf, kInf, -1, -1, -1}}}, {{1, {0, 0, kNan, 0}}}, step(0)));
  ASSERT_OK(worker.leave(0, 1));
  testing::internal::CaptureStderr();
  ASSERT_OK(worker.goodbye());
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("not finite, and left out (nonfinite=skip): 2 gradients of table 'rows', 1 gradient of table 'dense'"));
}

// The rows that are not finite are left out; the rest of the push counts, once, also after a restart with another policy.
TEST_P(ServerNonfinite, IsSkippedRowByRow) {
  InProcess process(options(Nonfinite::skip));
  Worker worker = process.worker(spec(), 0);
  ASSERT_OK(worker.hello());
  ASSERT_OK(worker.init_dense(1, {1, 2, 3, 4}));
  const auto push = [&] {
    return worker.push({batch_id(0, 0)}, {{0, {5, 6, 7}, {-1, -1, kInf, -1, -1, -1}}}, {{1, {0, 0, kNan, 0}}}, step(0));
  };
  ASSERT_EQ(*push(), wire::APPLIED);
  ASSERT_EQ(*push(), wire::DUPLICATE);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(worker.stats()->tables(0).nonfinite(), 1u) << "the repeated call is not counted again, nor the log's record";
    EXPECT_EQ(worker.stats()->tables(1).nonfinite(), 1u);
    EXPECT_THAT(*worker.pull_rows(0, {5, 6, 7}), ElementsAre(1, 1, 0, 0, 1, 1));
    EXPECT_THAT(*worker.pull_dense(1), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(worker.stats()->batches(), 1u);
    process.restart();
  }
}

// What was left out by choice is in the ledger, once, whether a server has it from its log or from a snapshot.
TEST_P(ServerNonfinite, IsInTheLedgerAfterARestart) {
  InProcess process(options(Nonfinite::skip));
  Worker worker = process.worker(spec(), 0);
  ASSERT_OK(worker.hello());
  ASSERT_OK(worker.init_dense(1, {1, 2, 3, 4}));
  ASSERT_EQ(*worker.push({batch_id(0, 0)}, {{0, {5, 6, 7}, {-1, -1, kInf, -1, kNan, -1}}}, {}, step(0)), wire::APPLIED);
  for (const bool snapshot : {false, true, true}) {
    wire::LedgerRequest request;
    *request.mutable_caller() = worker.caller();
    const auto reply = worker.call<wire::LedgerReply>(wire::LEDGER, request);
    ASSERT_OK(reply);
    EXPECT_THAT(reply->nonfinite(), ElementsAre(testing::Pair("rows", 2u)));
    if (snapshot) ASSERT_OK(process.server->stop());
    process.restart();
  }
}

TEST_P(ServerNonfinite, IsClippedToTheTablesBoundOrToZero) {
  InProcess process(options(Nonfinite::clip));
  Worker worker = process.worker(spec(), 0);
  ASSERT_OK(worker.hello());
  ASSERT_OK(worker.init_dense(1, {1, 2, 3, 4}));
  ASSERT_EQ(*worker.push({batch_id(0, 0)}, {{0, {5}, {-kInf, kNan}}}, {{1, {-1, kInf, kNan, -1}}}, step(0)), wire::APPLIED);
  const float bound = GetParam() == Mode::sync ? 8.0f : 0.0f;
  EXPECT_THAT(*worker.pull_rows(0, {5}), ElementsAre(bound, 0));
  EXPECT_THAT(*worker.pull_dense(1), ElementsAre(2, 2, 3, 5));
}

}  // namespace
}  // namespace argosy::ps
