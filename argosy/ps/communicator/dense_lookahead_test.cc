#include "argosy/ps/communicator/dense_lookahead.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <thread>

#include "argosy/ps/client/cluster_test.h"

namespace argosy::ps {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

constexpr size_t kSize = 5000;  // more than one piece

// A worker's memory of one dense table, and the server of it.
class DenseLookaheadTest : public testing::Test {
 protected:
  void begin(const std::string& rule = "sgd", const std::optional<optim::Regularization>& regularization = {}) {
    spec_ = {.mode = Mode::async, .workers = 1, .tables = {dense_table("w", kSize), sparse_table("rows", 2)}};
    spec_.tables[0].rule = rule;
    spec_.tables[0].regularization = regularization;
    rule_ = *optim::make_rule(rule, {});
    scalars_ = rule_->initial_scalars();
    states_.clear();
    for (const optim::StateSlot& slot : rule_->states()) {
      if (slot.shape == optim::StateSlot::element) states_.emplace_back(kSize, slot.initial);
    }
    server_.assign(kSize, 1);
    lookahead_ = *DenseLookahead::make(spec_);
    lookahead_->bind(0, values_);
    receive();
  }

  static std::vector<float> gradient(float of) {
    std::vector<float> gradient(kSize);
    for (size_t i = 0; i < kSize; ++i) gradient[i] = of * std::cos(static_cast<float>(i));
    return gradient;
  }

  void advance(BatchId batch, const std::vector<float>& gradient) {
    const DenseGradient dense{.table = 0, .values = gradient};
    lookahead_->advance({.batch_id = batch, .dense = std::span(&dense, 1)});
  }

  // As ps::State does it.
  void apply(std::vector<float> gradient) {
    if (spec_.tables[0].regularization) optim::regularize(*spec_.tables[0].regularization, server_, gradient);
    std::vector<float*> states;
    for (auto& state : states_) states.push_back(state.data());
    rule_->apply(rule_->begin_step(rate_, scalars_), server_.data(), gradient.data(), states.data(), kSize);
  }

  void answer(std::span<const DenseRequest> requests) {
    ASSERT_EQ(requests.size(), 1u);
    std::ranges::copy(server_, requests[0].values.begin());
    *requests[0].rate = rate_;
  }
  void receive() {
    answer(lookahead_->begin_receive());
    lookahead_->end_receive(true);
  }

  JobSpec spec_;
  float rate_ = 0.5f;
  std::unique_ptr<optim::Rule> rule_;
  std::vector<float> scalars_;
  std::vector<std::vector<float>> states_;
  std::vector<float> server_, values_ = std::vector<float>(kSize);
  std::unique_ptr<DenseLookahead> lookahead_;
};

// One worker's parameters are those that the servers will have, before they have them.
TEST_F(DenseLookaheadTest, IsTheServersStepForOneWorker) {
  for (const char* rule : {"sgd", "momentum", "adam", "adagrad", "rmsprop", "running_mean"}) {
    SCOPED_TRACE(rule);
    begin(rule, optim::Regularization{.kind = optim::Regularization::l2, .coeff = 0.01f});
    for (BatchId batch = 0; batch < 6; ++batch) {
      advance(batch, gradient(1.0f + static_cast<float>(batch)));
      apply(gradient(1.0f + static_cast<float>(batch)));
      ASSERT_EQ(values_, server_) << "batch " << batch;
    }
  }
}

// What is received takes the guess's place; what it lacks is added again.
TEST_F(DenseLookaheadTest, KeepsWhatAReceiveLacks) {
  begin();
  const std::vector<float> ones(kSize, 1.0f);
  advance(1, ones);
  advance(2, ones);
  EXPECT_THAT(values_, Each(0.0f));
  server_.assign(kSize, 10);  // others have trained, and batch 1 is in it
  lookahead_->sent(1);
  receive();
  EXPECT_THAT(values_, Each(9.5f));
  server_.assign(kSize, 20);
  lookahead_->sent(2);
  receive();
  EXPECT_THAT(values_, Each(20.0f));
}

// Who was sent while a receive was under way may be in its answer or not, and counts as not.
TEST_F(DenseLookaheadTest, ABatchThatArrivesDuringAReceiveIsKept) {
  begin();
  const std::vector<float> ones(kSize, 1.0f);
  advance(1, ones);
  const auto requests = lookahead_->begin_receive();
  answer(requests);
  lookahead_->sent(1);
  lookahead_->end_receive(true);
  EXPECT_THAT(values_, Each(0.5f));
  receive();
  EXPECT_THAT(values_, Each(1.0f));
}

TEST_F(DenseLookaheadTest, AFailedReceiveChangesNothing) {
  begin();
  advance(1, std::vector<float>(kSize, 1.0f));
  lookahead_->sent(1);
  const auto requests = lookahead_->begin_receive();
  requests[0].values[0] = 99;
  lookahead_->end_receive(false);
  EXPECT_THAT(values_, Each(0.5f));
  receive();
  EXPECT_THAT(values_, Each(1.0f));
}

// One bad number leaves the whole table to the servers.
TEST_F(DenseLookaheadTest, AGradientThatIsNotFiniteMovesNothing) {
  begin("adam");
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> gradient(kSize, 1.0f);
    gradient[kSize - 1] = bad;
    advance(1, gradient);
    EXPECT_THAT(values_, Each(1.0f));
  }
  receive();
  EXPECT_THAT(values_, Each(1.0f));
}

TEST_F(DenseLookaheadTest, FollowsTheServersRate) {
  begin();
  rate_ = 0.25f;
  receive();
  advance(1, std::vector<float>(kSize, 1.0f));
  EXPECT_THAT(values_, Each(0.75f));
}

TEST_F(DenseLookaheadTest, ForgetsWhatWillNeverArrive) {
  begin();
  advance(1, std::vector<float>(kSize, 1.0f));
  lookahead_->forget();
  receive();
  EXPECT_THAT(values_, Each(1.0f));
  lookahead_->sent(1);  // nobody knows it any more
}

// lamb's step depends on the whole parameter.
TEST_F(DenseLookaheadTest, ARuleOfWholeParametersIsNotGuessed) {
  begin("lamb");
  advance(1, std::vector<float>(kSize, 1.0f));
  EXPECT_THAT(values_, Each(1.0f));
  server_.assign(kSize, 3);
  receive();
  EXPECT_THAT(values_, Each(3.0f));
}

// Threads compute, another sends, another receives: at the end the memory is the server's.
TEST_F(DenseLookaheadTest, ThreadsMayDoItAllAtOnce) {
  begin();
  constexpr int kBatches = 200;
  Mutex server_mutex;
  const std::vector<float> ones(kSize, 1.0f);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 2; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kBatches; ++i) {
          const auto batch = static_cast<BatchId>(thread * kBatches + i);
          advance(batch, ones);
          {
            std::lock_guard lock(server_mutex);
            apply(ones);
          }
          lookahead_->sent(batch);
        }
      });
    }
    threads.emplace_back([&] {
      for (int i = 0; i < kBatches; ++i) {
        const auto requests = lookahead_->begin_receive();
        {
          std::lock_guard lock(server_mutex);
          answer(requests);
        }
        lookahead_->end_receive(true);
      }
    });
  }
  receive();
  EXPECT_EQ(values_, server_);
  EXPECT_THAT(values_, Each(1 - 2 * kBatches * rate_));
}

}  // namespace
}  // namespace argosy::ps
