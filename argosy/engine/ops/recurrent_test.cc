// Recurrent layers against a walk along each sequence, one row at a time.
#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers/nn.h"
#include "argosy/graph/layers/sequence.h"

namespace argosy::engine {
namespace {

class Recurrent : public LayerTest {
 protected:
  static constexpr int64_t kWidth = 2;

  Variable sequences(int64_t gates) {
    feed_["x"] = {.tensor = at::randn({6, gates * kWidth}, at::kDouble), .lod = lod({{0, 2, 2, 5, 6}})};
    return data("x", {-1, gates * kWidth}, DType::float64, 1);
  }
  Variable state(const std::string& name) {
    feed_[name] = {.tensor = at::randn({4, kWidth}, at::kDouble)};
    return data(name, {-1, kWidth});
  }
  std::vector<Variable> with_parameters(std::vector<Variable> inputs) {
    for (graph::VarDesc* parameter : main_->parameters()) inputs.emplace_back(main_, main_->global_block(), *parameter);
    return inputs;
  }
  // `step` takes an input row and the states before it, and returns those after. The result is the first state at each row.
  using States = std::vector<at::Tensor>;
  at::Tensor walk(bool reverse, const std::vector<States>& first,
                  const std::function<States(const at::Tensor&, const States&)>& step, size_t which = 0) {
    const at::Tensor& x = feed_.at("x").tensor;
    const auto& offsets = feed_.at("x").offsets();
    at::Tensor out = at::zeros({x.size(0), kWidth}, at::kDouble);
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      States states = first[i];
      for (int64_t k = 0; k < offsets[i + 1] - offsets[i]; ++k) {
        const int64_t row = reverse ? offsets[i + 1] - 1 - k : offsets[i] + k;
        states = step(x[row], states);
        out[row].copy_(states[which]);
      }
    }
    return out;
  }
  Feed feed_;
};

at::Tensor product(const at::Tensor& row, const at::Tensor& matrix) { return at::mm(row.unsqueeze(0), matrix).squeeze(0); }

TEST_F(Recurrent, GruWalksEachSequence) {
  const Variable x = sequences(3), h = state("h");
  const Variable plain = layers::dynamic_gru(x, kWidth, {.param = "w", .bias = "b"});
  const Variable other = layers::dynamic_gru(x, kWidth,
                                             {.param = "w",
                                              .bias = graph::ParamAttr::none(),
                                              .is_reverse = true,
                                              .candidate_activation = "relu",
                                              .h_0 = h,
                                              .origin_mode = true});
  EXPECT_EQ(plain.name(), "gru_0.tmp_0");
  start();
  stored("b").uniform_(-1, 1);
  // Paddle's layout: the gates' block, then the candidate's.
  const at::Tensor flat = stored("w").flatten(), gates = flat.slice(0, 0, 8).reshape({2, 4}),
                   candidate = flat.slice(0, 8, 12).reshape({2, 2});
  const auto step = [&](const at::Tensor& bias, bool origin, bool relu) {
    return [=](const at::Tensor& row, const States& before) -> States {
      const at::Tensor in = row + bias, both = at::sigmoid(in.slice(0, 0, 4) + product(before[0], gates));
      const at::Tensor update = both.slice(0, 0, 2), reset = both.slice(0, 2, 4);
      const at::Tensor sum = in.slice(0, 4, 6) + product(reset * before[0], candidate),
                       fresh = relu ? at::relu(sum) : at::tanh(sum);
      return {origin ? update * before[0] + (1 - update) * fresh : (1 - update) * before[0] + update * fresh};
    };
  };
  const at::Tensor zeros = at::zeros({2}, at::kDouble);
  EXPECT_TRUE(at::allclose(run(feed_, plain),
                           walk(false, std::vector<States>(4, States{zeros}), step(stored("b").flatten(), false, false))));
  std::vector<States> first;
  for (int64_t i = 0; i < 4; ++i) first.push_back({feed_.at("h").tensor[i]});
  EXPECT_TRUE(at::allclose(run(feed_, other), walk(true, first, step(at::zeros({6}, at::kDouble), true, true))));
  check_gradients(plain, feed_, with_parameters({x}));
  check_gradients(layers::dynamic_gru(x, kWidth, {.param = "w", .bias = "b", .is_reverse = true, .h_0 = h}), feed_, {x, h});
}

TEST_F(Recurrent, LstmWalksEachSequence) {
  const Variable x = sequences(4), h = state("h"), c = state("c");
  const auto out = layers::dynamic_lstm(
      x, 4 * kWidth, {.h_0 = h, .c_0 = c, .param = "w", .bias = "b", .is_reverse = true, .cell_activation = "relu"});
  const auto plain = layers::dynamic_lstm(x, 4 * kWidth, {.param = "w", .bias = "plain_b", .use_peepholes = false});
  start();
  stored("b").uniform_(-1, 1);
  stored("plain_b").uniform_(-1, 1);
  const at::Tensor w = stored("w");
  const auto step = [&](const at::Tensor& bias, bool peepholes, bool relu) {
    return [=](const at::Tensor& row, const States& before) -> States {
      const at::Tensor sums = row + bias.slice(0, 0, 8) + product(before[0], w);
      const auto gate = [&](int64_t i, const at::Tensor& cell) {
        const at::Tensor sum = sums.slice(0, 2 * i, 2 * i + 2);
        return at::sigmoid(peepholes ? sum + bias.slice(0, 6 + 2 * i, 8 + 2 * i) * cell : sum);
      };
      const at::Tensor cell = gate(1, before[1]) * at::tanh(sums.slice(0, 0, 2)) + gate(2, before[1]) * before[1];
      return {gate(3, cell) * (relu ? at::relu(cell) : at::tanh(cell)), cell};
    };
  };
  std::vector<States> first;
  for (int64_t i = 0; i < 4; ++i) first.push_back({feed_.at("h").tensor[i], feed_.at("c").tensor[i]});
  const auto got = run(feed_, {out.hidden, out.cell, plain.hidden});
  EXPECT_TRUE(at::allclose(got[0].tensor, walk(true, first, step(stored("b").flatten(), true, true))));
  EXPECT_TRUE(at::allclose(got[1].tensor, walk(true, first, step(stored("b").flatten(), true, true), 1)));
  const at::Tensor zeros = at::zeros({2}, at::kDouble);
  EXPECT_TRUE(at::allclose(
      got[2].tensor, walk(false, std::vector<States>(4, States{zeros, zeros}), step(stored("plain_b").flatten(), false, false))));
  check_gradients(out.hidden, feed_, {x, h, c});
  check_gradients(plain.cell, feed_, {x});
  EXPECT_THROW(layers::dynamic_lstm(x, 7), Error);
  EXPECT_THROW(layers::dynamic_lstm(x, 8, {.bias = graph::ParamAttr::none()}), Error);
}

// A unit is one step of the walk: over sequences of one row it is the same.
TEST_F(Recurrent, UnitsAreSingleSteps) {
  feed_["x"] = {.tensor = at::randn({3, 6}, at::kDouble), .lod = lod({{0, 1, 2, 3}})};
  feed_["h"] = {.tensor = at::randn({3, 2}, at::kDouble)};
  const Variable x = data("x", {-1, 6}, DType::float64, 1), h = data("h", {-1, 2});
  const Variable whole = layers::dynamic_gru(x, 2, {.param = "w", .bias = "b", .h_0 = h, .origin_mode = true});
  const auto unit = layers::gru_unit(x, h, 6, {.param = "w", .bias = "b", .origin_mode = true});
  EXPECT_EQ(unit.hidden.name(), "gru_unit_0.tmp_2");
  start();
  const auto got = run(feed_, {whole, unit.hidden, unit.gate});
  EXPECT_TRUE(at::allclose(got[0].tensor, got[1].tensor));
  EXPECT_EQ(got[2].tensor.sizes(), (at::IntArrayRef{3, 6}));
  check_gradients(unit.hidden, feed_, with_parameters({x, h}));
}

TEST_F(Recurrent, LstmUnitIsItsFormula) {
  feed_["x"] = {.tensor = at::randn({3, 5}, at::kDouble)};
  feed_["h"] = {.tensor = at::randn({3, 2}, at::kDouble)};
  feed_["c"] = {.tensor = at::randn({3, 2}, at::kDouble)};
  const Variable x = data("x", {-1, 5}), h = data("h", {-1, 2}), c = data("c", {-1, 2});
  const auto unit = layers::lstm_unit(x, h, c, {.forget_bias = 0.5f});
  start();
  const at::Tensor sums = at::mm(at::cat({feed_.at("x").tensor, feed_.at("h").tensor}, 1), stored("fc_0.w_0"));
  const at::Tensor cell = at::sigmoid(sums.slice(1, 2, 4) + 0.5) * feed_.at("c").tensor +
                          at::sigmoid(sums.slice(1, 0, 2)) * at::tanh(sums.slice(1, 6, 8));
  const auto got = run(feed_, {unit.hidden, unit.cell});
  EXPECT_TRUE(at::allclose(got[1].tensor, cell));
  EXPECT_TRUE(at::allclose(got[0].tensor, at::sigmoid(sums.slice(1, 4, 6)) * at::tanh(cell)));
  check_gradients(unit.hidden, feed_, {x, h, c});
}

}  // namespace
}  // namespace argosy::engine
