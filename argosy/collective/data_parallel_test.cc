#include "argosy/collective/data_parallel.h"

#include <ATen/core/grad_mode.h>
#include <signal.h>
#include <torch/csrc/autograd/autograd.h>

#include "argosy/collective/ranks_test.h"

namespace argosy::collective {
namespace {

// A net of three layers, whose parameters come from a seed of the rank's own: equal ones must come from rank 0.
struct Net {
  explicit Net(uint64_t seed, at::ScalarType type = at::kFloat, bool with_unused = false) {
    at::manual_seed(seed);
    const auto add = [&](const std::string& name, at::IntArrayRef shape) {
      parameters.push_back({name, at::randn(shape, at::kDouble).to(type).set_requires_grad(true)});
    };
    add("first.weight", {5, 8});
    add("first.bias", {8});
    add("second.weight", {8, 8});
    add("third.weight", {8, 3});
    if (with_unused) add("unused.weight", {4, 4});
  }

  at::Tensor forward(const at::Tensor& input) const {
    const auto p = [&](int i) { return parameters[i].tensor; };
    return at::tanh(at::tanh(input.matmul(p(0)) + p(1)).matmul(p(2))).matmul(p(3));
  }

  std::vector<NamedTensor> parameters;
};

constexpr int kBatch = 4;

at::Tensor batch(int step, int rank, at::ScalarType type) {
  at::manual_seed(1000 + 10 * step + rank);
  return at::randn({kBatch, 5}, at::kDouble).to(type);
}

void sgd(const Net& net) {
  const at::NoGradGuard no_grad;
  for (const auto& one : net.parameters) {
    if (!one.tensor.grad().defined()) continue;
    at::Tensor value = one.tensor;
    value.sub_(0.1 * one.tensor.grad());
    value.mutable_grad().zero_();
  }
}

// What one process does with the batches of all ranks together.
Net alone(int ranks, int steps, int accumulation, at::ScalarType type) {
  Net net(1, type);
  for (int step = 0; step < steps; ++step) {
    for (int micro = 0; micro < accumulation; ++micro) {
      std::vector<at::Tensor> parts;
      for (int rank = 0; rank < ranks; ++rank) parts.push_back(batch(step * accumulation + micro, rank, type));
      net.forward(at::cat(parts)).square().mean().backward();
    }
    sgd(net);
  }
  return net;
}

double distance(const Net& a, const Net& b) {
  double largest = 0;
  for (size_t i = 0; i < a.parameters.size(); ++i) {
    const auto& expected = b.parameters[i].tensor;
    largest = std::max(largest, ((a.parameters[i].tensor - expected).norm() / expected.norm()).item<double>());
  }
  return largest;
}

struct Setting {
  std::string name;
  int ranks = 2, accumulation = 1;
  at::ScalarType type = at::kFloat;
  DataParallelOptions options = {};
  double tolerance = 1e-5;
  bool by_hand = false;  // accumulation by NoSync instead of set_accumulation
};

void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.name; }

class EqualsOneProcess : public ::testing::TestWithParam<Setting> {};

TEST_P(EqualsOneProcess, WithTheCombinedBatch) {
  const Setting& setting = GetParam();
  constexpr int kSteps = 4;
  expect_ranks(setting.ranks, [&](const RankInfo& place) {
    auto group = join(place);
    Net net(1 + place.rank, setting.type);
    auto parallel = value_or_throw(DataParallel::make(group, net.parameters, {}, setting.options));
    if (!setting.by_hand) parallel->set_accumulation(setting.accumulation);
    for (int step = 0; step < kSteps; ++step) {
      for (int micro = 0; micro < setting.accumulation; ++micro) {
        std::optional<NoSync> no_sync;
        if (setting.by_hand && micro + 1 < setting.accumulation) no_sync.emplace(*parallel);
        throw_if_error(parallel->before_forward());
        const auto out = net.forward(batch(step * setting.accumulation + micro, place.rank, setting.type));
        throw_if_error(parallel->after_forward({out}));
        out.square().mean().backward();
      }
      sgd(net);
    }
    const double found = distance(net, alone(setting.ranks, kSteps, setting.accumulation, setting.type));
    require(found <= setting.tolerance, fmt::format("rank {} is {} away", place.rank, found));
  });
}

DataParallelOptions small_buckets() { return {.bucket_mb = 64.0 / 1024 / 1024, .first_bucket_mb = 32.0 / 1024 / 1024}; }
DataParallelOptions copies() { return {.gradient_as_bucket_view = false}; }
DataParallelOptions unused() { return {.find_unused_parameters = true}; }
DataParallelOptions half(GradientType type) { return {.gradient_type = type}; }

INSTANTIATE_TEST_SUITE_P(
    Settings, EqualsOneProcess,
    ::testing::Values(
        Setting{"two_ranks"}, Setting{"three_ranks", 3}, Setting{"four_ranks", 4},
        Setting{.name = "double", .type = at::kDouble, .tolerance = 1e-12},
        Setting{.name = "double_small_buckets", .ranks = 3, .type = at::kDouble, .options = small_buckets(), .tolerance = 1e-12},
        Setting{.name = "small_buckets", .options = small_buckets()}, Setting{.name = "gradients_copied", .options = copies()},
        Setting{.name = "unused_searched", .options = unused()}, Setting{.name = "accumulated", .accumulation = 3},
        Setting{.name = "accumulated_small_buckets", .accumulation = 2, .options = small_buckets()},
        Setting{.name = "accumulated_copied", .accumulation = 2, .options = copies()},
        Setting{.name = "accumulated_by_no_sync", .accumulation = 3, .by_hand = true},
        Setting{.name = "float16", .options = half(GradientType::float16), .tolerance = 2e-3},
        Setting{.name = "bfloat16", .options = half(GradientType::bfloat16), .tolerance = 2e-2}),
    [](const auto& info) { return info.param.name; });

TEST(DataParallel, ParametersThatAStepLeavesOutKeepNoGradient) {
  expect_ranks(2, [](const RankInfo& place) {
    auto group = join(place);
    Net net(place.rank, at::kFloat, /*with_unused=*/true);
    auto parallel = value_or_throw(DataParallel::make(group, net.parameters, {}, unused()));
    for (int step = 0; step < 3; ++step) {
      throw_if_error(parallel->before_forward());
      const auto out = net.forward(batch(step, place.rank, at::kFloat));
      throw_if_error(parallel->after_forward({out}));
      out.square().mean().backward();
      const auto gradient = net.parameters.back().tensor.grad();
      require(!gradient.defined() || gradient.abs().sum().item<float>() == 0, "a gradient from nowhere");
      sgd(net);
    }
  });
}

TEST(DataParallel, ALeftOutParameterIsToldWhereNobodySaidSo) {
  const auto ends = testing::run_ranks(2, [](const RankInfo& place) {
    auto group = join(place, {{"collective_seconds", "30"}});
    Net net(place.rank, at::kFloat, /*with_unused=*/true);
    auto parallel = value_or_throw(DataParallel::make(group, net.parameters, {}));
    for (int step = 0; step < 2; ++step) {
      throw_if_error(parallel->before_forward());
      const auto out = net.forward(batch(step, place.rank, at::kFloat));
      throw_if_error(parallel->after_forward({out}));
      out.square().mean().backward();
    }
  });
  EXPECT_EQ(ends[0].status, 1);
  EXPECT_THAT(ends[0].output, ::testing::HasSubstr("find_unused_parameters"));
}

// A measurement that asks for gradients to be sent must not go on without.
TEST(DataParallel, ReduceAloneNeedsAGroupToSendBy) {
  auto group = value_or_throw(Group::join(RankInfo{}, Settings()));
  const at::Tensor weight = at::ones({2}).set_requires_grad(true);
  const auto made = DataParallel::make(group, {{"weight", weight}}, {}, {.reduce_alone = true});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.status().message().find("set PADDLE_TRAINER_ENDPOINTS"), std::string::npos) << made.status().message();
}

TEST(DataParallel, SparseGradientsAreAveragedByRow) {
  expect_ranks(2, [](const RankInfo& place) {
    auto group = join(place);
    at::Tensor table = at::ones({6, 2}).set_requires_grad(true);
    auto parallel = value_or_throw(DataParallel::make(group, {{"table", table}}, {}, {.sparse = {"table"}}));
    throw_if_error(parallel->before_forward());
    const auto rows = at::embedding(table, at::tensor({place.rank, 5}, at::kLong), -1, false, /*sparse=*/true);
    throw_if_error(parallel->after_forward({rows}));
    rows.sum().backward();
    const at::Tensor expected = at::zeros({6, 2});
    expected[0].fill_(0.5), expected[1].fill_(0.5), expected[5].fill_(1);
    require(table.grad().is_sparse() && table.grad().to_dense().equal(expected), "the mean of both ranks' rows");
  });
}

TEST(DataParallel, MixedTypesTravelTogether) {
  expect_ranks(2, [](const RankInfo& place) {
    auto group = join(place);
    at::Tensor single = at::full({3}, 1.0 + place.rank).set_requires_grad(true);
    at::Tensor twice = at::full({3}, 2.0 + place.rank, at::kDouble).set_requires_grad(true);
    auto parallel = value_or_throw(DataParallel::make(group, {{"single", single}, {"twice", twice}}, {}));
    require(single.equal(at::full({3}, 1.0)) && twice.equal(at::full({3}, 2.0, at::kDouble)), "rank 0's values");
    throw_if_error(parallel->before_forward());
    const auto out = (single.to(at::kDouble) * twice * (place.rank + 1)).sum();
    throw_if_error(parallel->after_forward({out}));
    out.backward();
    require(single.grad().allclose(at::full({3}, 3.0)) && twice.grad().allclose(at::full({3}, 1.5, at::kDouble)), "the means");
  });
}

TEST(DataParallel, BuffersFollowRank0) {
  expect_ranks(2, [](const RankInfo& place) {
    auto group = join(place);
    Net net(place.rank);
    at::Tensor mean = at::full({2}, 10.0 + place.rank);
    auto parallel = value_or_throw(DataParallel::make(group, net.parameters, {{"mean", mean}}));
    require(mean.equal(at::full({2}, 10.0)), "at the start");
    mean.add_(place.rank + 1);
    throw_if_error(parallel->before_forward());
    require(mean.equal(at::full({2}, 11.0)), "before a forward");
    mean.add_(place.rank);
    throw_if_error(parallel->before_forward(/*training=*/false));
    require(mean.equal(at::full({2}, 11.0 + place.rank)), "not where nothing is trained");
  });
}

TEST(DataParallel, ModelsThatDifferAreRefusedByName) {
  const auto shape = [](int rank) { return std::vector<NamedTensor>{{"w", at::zeros({2, 2 + rank}).set_requires_grad(true)}}; };
  const auto order = [](int rank) {
    std::vector<NamedTensor> all{{"a", at::zeros({2})}, {"b", at::zeros({2})}};
    if (rank == 1) std::swap(all[0], all[1]);
    return all;
  };
  const auto count = [](int rank) { return std::vector<NamedTensor>(1 + rank, {"w", at::zeros({2})}); };
  const auto message = [](const auto& make) {
    const auto ends = testing::run_ranks(2, [&](const RankInfo& place) {
      auto group = join(place);
      value_or_throw(DataParallel::make(group, make(place.rank), {}));
    });
    EXPECT_EQ(ends[0].status, 1);
    EXPECT_EQ(ends[1].status, 1);
    return ends[0].output;
  };
  EXPECT_THAT(message(shape),
              ::testing::HasSubstr("rank 0 has the parameter w Float [2, 2], and rank 1 has the parameter w Float [2, 3]"));
  EXPECT_THAT(message(order),
              ::testing::HasSubstr("rank 0 has the fixed parameter a Float [2], and rank 1 has the fixed parameter b"));
  EXPECT_THAT(message(count), ::testing::HasSubstr("at place 2 rank 0 has nothing more"));
}

TEST(DataParallel, AKilledRankEndsTheBackwardOfTheOthersWithItsName) {
  const auto ends = testing::run_ranks(3, [](const RankInfo& place) {
    auto group = join(place);
    Net net(place.rank);
    auto parallel = value_or_throw(DataParallel::make(group, net.parameters, {}));
    for (int step = 0;; ++step) {
      throw_if_error(parallel->before_forward());
      const auto out = net.forward(batch(step, place.rank, at::kFloat));
      throw_if_error(parallel->after_forward({out}));
      if (place.rank == 1 && step == 3) ::raise(SIGKILL);
      out.square().mean().backward();
      sgd(net);
    }
  });
  EXPECT_EQ(ends[1].status, 128 + SIGKILL);
  EXPECT_NE(ends[0].status, 0);
  EXPECT_NE(ends[2].status, 0);
  EXPECT_THAT(ends[0].output, ::testing::HasSubstr("rank 1 is lost")) << "its status is " << ends[0].status;
  EXPECT_LT(std::max(ends[0].time, ends[2].time), std::chrono::seconds(30)) << "peer_seconds";
}

// What a step that failed leaves behind, gradients and a reducer that waits for more of them, is gone.
TEST(DataParallel, RenewedItHasNoGradientsAndSendsAgain) {
  expect_ranks(2, [](const RankInfo& place) {
    auto group = join(place);
    Net net(1, at::kDouble);
    auto parallel = value_or_throw(DataParallel::make(group, net.parameters, {}));
    const auto backward = [&](int step) {
      throw_if_error(parallel->before_forward());
      const at::Tensor out = net.forward(batch(step, place.rank, at::kDouble));
      throw_if_error(parallel->after_forward({out}));
      out.square().mean().backward();
    };
    backward(0);
    throw_if_error(parallel->before_forward());
    throw_if_error(parallel->after_forward({net.forward(batch(1, place.rank, at::kDouble))}));  // and no backward
    throw_if_error(parallel->renew());
    for (const auto& one : net.parameters) require(!one.tensor.grad().defined(), "a gradient of " + one.name);
    backward(2);
    const Net whole(1, at::kDouble);
    whole.forward(at::cat({batch(2, 0, at::kDouble), batch(2, 1, at::kDouble)})).square().mean().backward();
    for (size_t i = 0; i < net.parameters.size(); ++i)
      require(net.parameters[i].tensor.grad().allclose(whole.parameters[i].tensor.grad(), 1e-12), net.parameters[i].name);
  });
}

TEST(DataParallel, BuffersGoBackAndToAll) {
  expect_ranks(2, [](const RankInfo& place) {
    auto group = join(place);
    Net net(1);
    at::Tensor mean = at::full({3}, 1.0);
    auto parallel = value_or_throw(DataParallel::make(group, net.parameters, {{"mean", mean}}));
    parallel->keep_buffers();
    mean.fill_(5 + place.rank);
    throw_if_error(parallel->share_buffers());
    require(mean.equal(at::full({3}, 5.0)), "rank 0's");
    parallel->put_buffers_back();
    require(mean.equal(at::full({3}, 1.0)), "as they were");
  });
}

}  // namespace
}  // namespace argosy::collective
