#include "argosy/engine/ops/window_loss.h"

#include <gmock/gmock.h>

#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers/nn.h"
#include "argosy/graph/minimize.h"

namespace argosy::engine {
namespace {

struct WindowCase {
  std::string mode;
  int64_t samples, drawn_each, group, width;
  bool one_table = false;
};

std::ostream& operator<<(std::ostream& out, const WindowCase& c) {
  return out << c.mode << " of " << c.samples << " samples, " << c.drawn_each << " drawn, groups of " << c.group << ", width "
             << c.width;
}

// A batch of random windows over random tables, and its loss and gradients by the formula as the papers have it.
class WindowLoss : public LayerTest, public testing::WithParamInterface<WindowCase> {
 protected:
  static constexpr int64_t kWords = 40;

  void build(const WindowCase& c, bool sparse) {
    const Variable center = data("center", {-1, 1}, DType::int64), around = data("around", {-1, 1}, DType::int64, 1),
                   drawn = data("drawn", {-1, c.drawn_each}, DType::int64);
    const bool cbow = c.mode == "cbow";
    const std::string in = "in", out = c.one_table ? "in" : "out";
    const auto rows = [&](const Variable& ids, const std::string& table) {
      return layers::embedding_v2(ids, {kWords, c.width}, {.is_sparse = sparse, .param = table});
    };
    loss_ = layers::window_loss(rows(center, cbow ? out : in), rows(around, cbow ? in : out), rows(drawn, out),
                                {.mode = c.mode, .negatives = 5.0f, .group = static_cast<int32_t>(c.group)});
  }

  Feed windows(const WindowCase& c) {
    std::vector<int64_t> offsets = {0};
    for (int64_t i = 0; i < c.samples; ++i) offsets.push_back(offsets.back() + 1 + at::randint(8, {1}).item<int64_t>());
    const auto words = [](std::vector<int64_t> shape) { return at::randint(kWords, shape, at::kLong); };
    return {{"center", {.tensor = words({c.samples, 1})}},
            {"around", {.tensor = words({offsets.back(), 1}), .lod = lod({offsets})}},
            {"drawn", {.tensor = words({c.samples, c.drawn_each})}}};
  }

  // Pair by pair, in doubles.
  at::Tensor by_formula(const WindowCase& c, const Feed& feed, const at::Tensor& in, const at::Tensor& out) {
    const at::Tensor center = feed.at("center").tensor.flatten(), around = feed.at("around").tensor.flatten(),
                     drawn = feed.at("drawn").tensor;
    const auto& offsets = feed.at("around").offsets();
    at::Tensor loss = at::zeros({}, at::kDouble);
    for (int64_t i = 0; i < c.samples; ++i) {
      const int64_t begin = offsets[static_cast<size_t>(i)], count = offsets[static_cast<size_t>(i) + 1] - begin;
      const at::Tensor words = around.narrow(0, begin, count);
      const bool cbow = c.mode == "cbow";
      const at::Tensor hidden = cbow ? in.index_select(0, words).mean(0) : in[center[i].item<int64_t>()];
      const at::Tensor targets = cbow ? out.index_select(0, center.narrow(0, i, 1)) : out.index_select(0, words);
      const int64_t first = i / c.group * c.group, end = std::min(first + c.group, c.samples);
      const at::Tensor others = out.index_select(0, drawn.narrow(0, first, end - first).flatten());
      const double weight = static_cast<double>(targets.size(0)) * 5.0 / static_cast<double>(others.size(0));
      loss = loss - at::log_sigmoid(at::mv(targets, hidden)).sum() - weight * at::log_sigmoid(-at::mv(others, hidden)).sum();
    }
    return loss;
  }

  // One step of SGD at this rate moves both tables by the gradient of the formula.
  void check_step(const WindowCase& c, double times) {
    minimize_times(times);
    start();
    for (const char* table : {"in", "out"}) {
      if (scope_.find(table) != nullptr) stored(table).uniform_(-1, 1);
    }
    const Feed feed = windows(c);
    const at::Tensor in = stored("in").to(at::kDouble).set_requires_grad(true);
    const at::Tensor out = c.one_table ? in : stored("out").to(at::kDouble).set_requires_grad(true);
    const at::Tensor expected = by_formula(c, feed, in, out);
    expected.backward();
    const auto found = run(feed, {loss_.loss, loss_.per_pair});
    EXPECT_NEAR(found[0].tensor.item<double>(), expected.item<double>(), 1e-4 * expected.item<double>());
    const double pairs =
        c.mode == "cbow" ? static_cast<double>(c.samples) : static_cast<double>(feed.at("around").offsets().back());
    EXPECT_NEAR(found[1].tensor.item<double>(), expected.item<double>() / pairs, 1e-4 * expected.item<double>() / pairs);
    for (const auto& [name, before] : {std::pair("in", in), std::pair("out", out)}) {
      if (c.one_table && name == std::string("out")) continue;
      const at::Tensor moved = (before.detach() - stored(name).to(at::kDouble)) / 0.5;
      EXPECT_TRUE(at::allclose(moved, times * before.grad(), 1e-4, 2e-5)) << name << "\n"
                                                                          << (moved - times * before.grad()).abs().max();
    }
  }

  void minimize_times(double times) {
    graph::minimize(optim::SGD{.learning_rate = 0.5},
                    times == 1 ? loss_.loss : layers::scale(loss_.loss, static_cast<float>(times)));
  }

  layers::WindowLoss loss_;
};

TEST_P(WindowLoss, FusedIsTheFormula) {
  build(GetParam(), true);
  check_step(GetParam(), 1);
}

TEST_P(WindowLoss, PlainIsTheFormula) {
  build(GetParam(), false);
  check_step(GetParam(), 1);
}

// What comes behind the loss reaches the rows.
TEST_P(WindowLoss, FusedGoesOnFromAScaledLoss) {
  build(GetParam(), true);
  check_step(GetParam(), 0.25);
}

INSTANTIATE_TEST_SUITE_P(All, WindowLoss,
                         testing::Values(WindowCase{"skip_gram", 70, 1, 32, 100}, WindowCase{"cbow", 70, 1, 32, 100},
                                         WindowCase{"skip_gram", 5, 3, 8, 16}, WindowCase{"cbow", 5, 3, 8, 7},
                                         WindowCase{"skip_gram", 64, 2, 16, 33}, WindowCase{"skip_gram", 1, 1, 1, 4},
                                         WindowCase{"cbow", 33, 1, 11, 20, true}, WindowCase{"skip_gram", 33, 1, 11, 20, true}));

using WindowLossErrors = LayerTest;

TEST_F(WindowLossErrors, NameWhatDoesNotFit) {
  const Variable center = data("center", {-1, 1}, DType::int64), around = data("around", {-1, 1}, DType::int64, 1),
                 drawn = data("drawn", {-1, 1}, DType::int64);
  const auto rows = [&](const Variable& ids, const char* table) {
    return layers::embedding_v2(ids, {9, 4}, {.is_sparse = true, .param = table});
  };
  const auto loss = layers::window_loss(rows(center, "in"), rows(around, "out"), rows(drawn, "out"));
  graph::minimize(optim::SGD{.learning_rate = 0.5}, loss.loss);
  start();
  const at::Tensor two = at::zeros({2, 1}, at::kLong);
  const Value windows{.tensor = at::zeros({3, 1}, at::kLong), .lod = lod({{0, 1, 3}})};
  const auto with = [&](const char* name, Value value) {
    Feed feed = {{"center", {.tensor = two}}, {"around", windows}, {"drawn", {.tensor = two}}};
    feed[name] = std::move(value);
    return error_of(feed, loss.loss);
  };
  EXPECT_THAT(with("center", {.tensor = at::zeros({4, 1}, at::kLong)}),
              testing::HasSubstr("'center' has 4 words, but 'around' has 2 windows"));
  EXPECT_THAT(with("drawn", {.tensor = at::zeros({3, 1}, at::kLong)}),
              testing::HasSubstr("3 words, which is no multiple of the 2 samples"));
  EXPECT_THAT(with("drawn", {.tensor = at::full({2, 1}, 9, at::kLong)}),
              testing::HasSubstr("id 9 at position 0 is outside the table 'out' with 9 rows"));
}

}  // namespace
}  // namespace argosy::engine
