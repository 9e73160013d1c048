// SimpleRNN, LSTM and GRU over padded batches, in one operator: what paddle.nn's recurrent layers build. Gates come in the
// same order in Paddle and in torch: i f g o, and r z n.
#include <ATen/ATen.h>

#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::ShapeContext;
using RnnTensors = std::vector<at::Tensor>;

// A batch, step after step: [time, batch, size], or packed where the sequences have lengths of their own. `sizes` then says how
// many of them still run at each step, and `order` how they were sorted for it, the longest first.
struct RnnBatch {
  at::Tensor data, sizes, order, back;
  int64_t steps = 0;
};

RnnBatch rnn_batch(const OpContext& op) {
  const at::Tensor& input = op.tensor("Input");
  if (input.dim() != 3) {
    op.fail("'{}' has shape {}, expected [time, batch, size]", op.input_name("Input"),
            graph::shape_to_string(input.sizes().vec()));
  }
  RnnBatch batch{.data = input, .steps = input.size(0)};
  if (!op.has_input("SequenceLength")) return batch;
  const at::Tensor lengths = op.on_cpu("SequenceLength").flatten().to(at::kLong);
  if (lengths.numel() != input.size(1)) {
    op.fail("'{}' has {} lengths for {} sequences", op.input_name("SequenceLength"), lengths.numel(), input.size(1));
  }
  if (lengths.min().item<int64_t>() < 1 || lengths.max().item<int64_t>() > batch.steps) {
    op.fail("the lengths '{}' are from {} to {}, expected 1 to {}", op.input_name("SequenceLength"),
            lengths.min().item<int64_t>(), lengths.max().item<int64_t>(), batch.steps);
  }
  const auto [sorted, order] = at::sort(lengths, /*stable=*/true, 0, /*descending=*/true);
  batch.order = order.to(input.device());
  batch.back = at::argsort(order).to(input.device());
  std::tie(batch.data, batch.sizes) = at::_pack_padded_sequence(input.index_select(1, batch.order), sorted, false);
  return batch;
}

// (outputs, last states) of one layer. `weights` are those of torch's kernels.
std::pair<at::Tensor, RnnTensors> run_rnn_layer(const OpContext& op, const RnnBatch& batch, const RnnTensors& states,
                                                const RnnTensors& weights, bool biased, bool both_ways) {
  const std::string& mode = op.attr<std::string>("mode");
  const bool packed = batch.sizes.defined();
  if (mode == "LSTM") {
    auto found = packed ? at::lstm(batch.data, batch.sizes, states, weights, biased, 1, 0.0, false, both_ways)
                        : at::lstm(batch.data, states, weights, biased, 1, 0.0, false, both_ways, false);
    return {std::get<0>(found), {std::get<1>(found), std::get<2>(found)}};
  }
  // Each function has a padded and a packed form, told apart by its arguments.
  const auto one_state = [&](auto function) -> std::pair<at::Tensor, RnnTensors> {
    auto found = packed ? function(batch.data, batch.sizes, states[0], weights, biased, int64_t{1}, 0.0, false, both_ways)
                        : function(batch.data, states[0], weights, biased, int64_t{1}, 0.0, false, both_ways, false);
    return {std::get<0>(found), {std::get<1>(found)}};
  };
  if (mode == "GRU") return one_state([](const auto&... args) { return at::gru(args...); });
  if (mode == "RNN_TANH") return one_state([](const auto&... args) { return at::rnn_tanh(args...); });
  if (mode == "RNN_RELU") return one_state([](const auto&... args) { return at::rnn_relu(args...); });
  op.fail("mode '{}' is not known; expected LSTM, GRU, RNN_TANH or RNN_RELU", mode);
}

// The weights of a layer as torch's kernels take them: w_ih, w_hh, b_ih, b_hh per direction. Paddle's list has all matrices
// first, then all biases.
RnnTensors rnn_weights(const RnnTensors& all, int64_t layer, int64_t directions, int64_t layers, bool biased) {
  RnnTensors found;
  for (int64_t direction = 0; direction < directions; ++direction) {
    const auto at = static_cast<size_t>(2 * (layer * directions + direction));
    found.insert(found.end(), {all[at], all[at + 1]});
    const auto bias = at + static_cast<size_t>(2 * layers * directions);
    if (biased) found.insert(found.end(), {all[bias], all[bias + 1]});
  }
  return found;
}

at::Tensor dropped_between(const OpContext& op, const at::Tensor& x) {
  const double drop = op.attr<float>("dropout_prob"), keep = 1.0 - drop;
  if (drop == 0 || op.attr<bool>("is_test")) return x;
  if (keep == 0) return x * 0;
  const at::Tensor mask = at::empty_like(x, at::kByte).bernoulli_(keep, op.device_generator(op.attr<int32_t>("seed")));
  return x * (mask * (1.0 / keep)).to(x.scalar_type());
}

void run_rnn(const OpContext& op) {
  const int64_t layers = op.attr<int32_t>("num_layers"), directions = op.attr<bool>("is_bidirec") ? 2 : 1;
  const RnnTensors all = op.tensors("WeightList");
  const auto matrices = static_cast<size_t>(2 * layers * directions);
  if (all.size() != matrices && all.size() != 2 * matrices)
    op.fail("WeightList has {} tensors, expected {} or, with biases, {}", all.size(), matrices, 2 * matrices);
  RnnBatch batch = rnn_batch(op);
  RnnTensors before = op.tensors("PreState");
  const size_t kinds = op.attr<std::string>("mode") == "LSTM" ? 2 : 1;
  if (before.size() != kinds) op.fail("PreState has {} tensors, expected {}", before.size(), kinds);
  if (batch.order.defined())
    for (at::Tensor& state : before) state = state.index_select(1, batch.order);
  std::vector<RnnTensors> after(kinds);
  for (int64_t layer = 0; layer < layers; ++layer) {
    if (layer > 0) batch.data = dropped_between(op, batch.data);
    RnnTensors states;
    for (const at::Tensor& state : before) states.push_back(state.narrow(0, layer * directions, directions).contiguous());
    const bool biased = all.size() > matrices;
    auto [out, last] =
        run_rnn_layer(op, batch, states, rnn_weights(all, layer, directions, layers, biased), biased, directions == 2);
    batch.data = out;
    for (size_t i = 0; i < kinds; ++i) after[i].push_back(last[i]);
  }
  const bool packed = batch.sizes.defined();
  if (packed) batch.data = std::get<0>(at::_pad_packed_sequence(batch.data, batch.sizes, false, 0.0, batch.steps));
  op.set_output("Out", packed ? batch.data.index_select(1, batch.back) : batch.data);
  for (size_t i = 0; i < kinds; ++i) {
    const at::Tensor states = at::cat(after[i]);
    op.set_output("State", packed ? states.index_select(1, batch.back) : states, nullptr, i);
  }
}

Status infer_rnn(ShapeContext& context) {
  const auto& input = context.input("Input");
  if (input.shape.size() != 3) {
    return Status::invalid_argument("'{}' has shape {}, expected [time, batch, size]", input.name,
                                    graph::shape_to_string(input.shape));
  }
  const int64_t width = context.attribute<int32_t>("hidden_size") * (context.attribute<bool>("is_bidirec") ? 2 : 1);
  context.set_output("Out", {input.shape[0], input.shape[1], width}, input.dtype);
  for (size_t i = 0; i < context.output_count("State"); ++i) {
    const auto& before = context.input("PreState", i);
    context.set_output("State", {before.shape[0], input.shape[1], before.shape[2]}, input.dtype, 0, i);
  }
  return {};
}

ARGOSY_OP("rnn", run_rnn)
    .doc("SimpleRNN, LSTM or GRU over sequences of one padded length, several layers deep and in one or both directions.")
    .input("Input", "[time, batch, size]")
    .input_list("PreState", "the states before, [layers * directions, batch, hidden] each: one, or for LSTM two")
    .input_list("WeightList", "the matrices of each layer and direction, [gates * hidden, in], then their biases")
    .optional_input("SequenceLength", "how long each sequence is; outputs behind it are 0")
    .output("Out", "[time, batch, directions * hidden]")
    .output_list("State", "the states after, like PreState")
    .optional_output("Reserve", "not made")
    .optional_output("DropoutState", "not made")
    .attr("mode", std::string("LSTM"), "LSTM | GRU | RNN_TANH | RNN_RELU")
    .attr("input_size", 10, "of the first layer")
    .attr("hidden_size", 100, "of each layer and direction")
    .attr("num_layers", 1, "how many")
    .attr("is_bidirec", false, "also from the end")
    .attr("dropout_prob", 0.0f, "the part of what goes from layer to layer that is set to 0 while training")
    .attr("is_test", false, "drop nothing")
    .attr("seed", 0, "of what is dropped; 0: the program's")
    .infer_shape(infer_rnn);

}  // namespace
}  // namespace argosy::engine
