// GRU and LSTM over sequences, and single steps of them.
#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "argosy/engine/ops/sequence_rows.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::ShapeContext;

at::Tensor activate(const OpContext& op, const at::Tensor& x, std::string_view kind) {
  if (kind == "sigmoid") return at::sigmoid(x);
  if (kind == "tanh") return at::tanh(x);
  if (kind == "relu") return at::relu(x);
  if (kind == "identity") return x;
  op.fail("activation '{}' is not known; expected sigmoid, tanh, relu or identity", kind);
}

// Sequences of several lengths, walked step by step together: the longest first, so that those still running are always the
// first so many. Rows are kept step after step.
struct Steps {
  std::vector<int64_t> rows;      // the input row at each place
  std::vector<int64_t> counts;    // how many sequences run at each step
  std::vector<int64_t> sequence;  // which sequence is at each place of a step

  std::vector<int64_t> places() const {  // for each input row its place
    std::vector<int64_t> result(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) result[static_cast<size_t>(rows[i])] = static_cast<int64_t>(i);
    return result;
  }
};

Steps make_steps(const std::vector<int64_t>& offsets, bool reverse) {
  const auto length = [&](int64_t i) { return offsets[static_cast<size_t>(i) + 1] - offsets[static_cast<size_t>(i)]; };
  Steps steps;
  steps.sequence.resize(offsets.size() - 1);
  std::iota(steps.sequence.begin(), steps.sequence.end(), 0);
  std::stable_sort(steps.sequence.begin(), steps.sequence.end(), [&](int64_t a, int64_t b) { return length(a) > length(b); });
  const int64_t longest = steps.sequence.empty() ? 0 : length(steps.sequence[0]);
  for (int64_t step = 0; step < longest; ++step) {
    int64_t running = 0;
    for (; running < static_cast<int64_t>(steps.sequence.size()); ++running) {
      const int64_t i = steps.sequence[static_cast<size_t>(running)];
      if (length(i) <= step) break;
      const auto at = static_cast<size_t>(i);
      steps.rows.push_back(reverse ? offsets[at + 1] - 1 - step : offsets[at] + step);
    }
    steps.counts.push_back(running);
  }
  return steps;
}

// The state before the first step, in the order of the steps: that of `slot`, or zeros.
at::Tensor first_state(const OpContext& op, std::string_view slot, const Steps& steps, int64_t width,
                       const at::TensorOptions& options) {
  const auto count = static_cast<int64_t>(steps.sequence.size());
  if (!op.has_input(slot)) return at::zeros({count, width}, options);
  const at::Tensor& given = op.tensor(slot);
  if (given.dim() != 2 || given.size(0) != count || given.size(1) != width) {
    op.fail("'{}' has shape {}, expected [{}, {}]", op.input_name(slot), graph::shape_to_string(given.sizes().vec()), count,
            width);
  }
  return take_rows(given, steps.sequence);
}

void check_width(const OpContext& op, const at::Tensor& input, int64_t gates, int64_t width) {
  if (input.dim() != 2 || input.size(1) != gates * width) {
    op.fail("'{}' has shape {}, expected [rows, {} * {}] for weights of width {}", op.input_name("Input"),
            graph::shape_to_string(input.sizes().vec()), gates, width, width);
  }
}

// Paddle keeps the weights of the update and reset gates as one [width, 2 width] block, and after it, not beside it, those of
// the candidate as [width, width].
struct GruWeights {
  at::Tensor gates, candidate;
};

GruWeights gru_weights(const at::Tensor& weight) {
  const int64_t width = weight.size(0);
  const at::Tensor flat = weight.reshape({-1});
  return {flat.narrow(0, 0, 2 * width * width).view({width, 2 * width}),
          flat.narrow(0, 2 * width * width, width * width).view({width, width})};
}

struct GruStep {
  at::Tensor gates, reset_hidden, candidate, hidden;
};

// What a step adds to the products with its weights.
struct GruInput {
  at::Tensor gates, candidate;
};

GruInput gru_input(const at::Tensor& x) {
  const int64_t width = x.size(1) / 3;
  const std::vector<at::Tensor> parts = x.split_with_sizes({2 * width, width}, 1);
  return {parts[0], parts[1]};
}

GruStep gru_step(const OpContext& op, const GruInput& x, const at::Tensor& before, const GruWeights& weights,
                 std::string_view gate, std::string_view act, bool origin) {
  GruStep step;
  step.gates = activate(op, at::addmm(x.gates, before, weights.gates), gate);
  const std::vector<at::Tensor> gates = step.gates.chunk(2, 1);
  const at::Tensor& update = gates[0];
  step.reset_hidden = gates[1] * before;
  step.candidate = activate(op, at::addmm(x.candidate, step.reset_hidden, weights.candidate), act);
  step.hidden = origin ? at::lerp(step.candidate, before, update) : at::lerp(before, step.candidate, update);
  return step;
}

void run_gru(const OpContext& op) {
  const Value& input = op.input("Input");
  const int64_t width = op.tensor("Weight").size(0);
  check_width(op, input.tensor, 3, width);
  const Steps steps = make_steps(checked_offsets(op, "Input"), op.attr<bool>("is_reverse"));
  at::Tensor x = take_rows(input.tensor, steps.rows);
  if (op.has_input("Bias")) x = x + op.tensor("Bias").reshape({1, -1});
  const GruWeights weights = gru_weights(op.tensor("Weight"));
  at::Tensor hidden = first_state(op, "H0", steps, width, x.options().requires_grad(false));
  std::vector<at::Tensor> all = {at::empty({0, width}, x.options().requires_grad(false))};
  // All parts at once: their gradients are put together once, where each part alone would have one of the whole.
  const GruInput whole = gru_input(x);
  const std::vector<at::Tensor> gates = whole.gates.split_with_sizes(steps.counts),
                                candidates = whole.candidate.split_with_sizes(steps.counts);
  for (size_t i = 0; i < gates.size(); ++i) {
    hidden = gru_step(op, {gates[i], candidates[i]}, hidden.narrow(0, 0, steps.counts[i]), weights,
                      op.attr<std::string>("gate_activation"), op.attr<std::string>("activation"), op.attr<bool>("origin_mode"))
                 .hidden;
    all.push_back(hidden);
  }
  op.set_output("Hidden", take_rows(at::cat(all), steps.places()), input.lod);
}

ARGOSY_OP("gru", run_gru)
    .doc("A gated recurrent unit along each sequence.")
    .input("Input", "sequences, [rows, 3 width]: for update gate, reset gate and candidate")
    .input("Weight", "[width, 3 width]")
    .optional_input("Bias", "[1, 3 width]")
    .optional_input("H0", "the state before each sequence")
    .output("Hidden", "sequences, [rows, width]")
    .optional_output("BatchGate", "not made")
    .optional_output("BatchResetHiddenPrev", "not made")
    .optional_output("BatchHidden", "not made")
    .attr("activation", std::string("tanh"), "of the candidate: sigmoid | tanh | relu | identity")
    .attr("gate_activation", std::string("sigmoid"), "of the gates")
    .attr("is_reverse", false, "from the end of each sequence")
    .attr("origin_mode", false, "the update gate keeps the old state instead of taking the new one")
    .infer_shape([](ShapeContext& context) {
      const auto &input = context.input("Input"), &weight = context.input("Weight");
      if (input.shape.size() != 2 || weight.shape.size() != 2 || weight.shape[1] != 3 * weight.shape[0] ||
          input.shape[1] != weight.shape[1]) {
        return Status::invalid_argument("'{}' {} and '{}' {} do not fit: expected [rows, 3 size] and [size, 3 size]", input.name,
                                        graph::shape_to_string(input.shape), weight.name, graph::shape_to_string(weight.shape));
      }
      const int64_t width = weight.shape[0];
      context.set_output("Hidden", {input.shape[0], width}, input.dtype, input.lod_level);
      context.set_output("BatchGate", {input.shape[0], 3 * width}, input.dtype);
      context.set_output("BatchResetHiddenPrev", {input.shape[0], width}, input.dtype);
      context.set_output("BatchHidden", {input.shape[0], width}, input.dtype);
      return Status();
    });

// gru_unit names activations by number.
std::string_view activation_name(const OpContext& op, int32_t number) {
  constexpr std::string_view kNames[] = {"identity", "sigmoid", "tanh", "relu"};
  if (number < 0 || number > 3) op.fail("activation {} is not known; expected 0 to 3", number);
  return kNames[number];
}

ARGOSY_OP("gru_unit",
          [](const OpContext& op) {
            const at::Tensor& before = op.tensor("HiddenPrev");
            check_width(op, op.tensor("Input"), 3, op.tensor("Weight").size(0));
            const at::Tensor x =
                op.has_input("Bias") ? op.tensor("Input") + op.tensor("Bias").reshape({1, -1}) : op.tensor("Input");
            const GruStep step = gru_step(op, gru_input(x), before, gru_weights(op.tensor("Weight")),
                                          activation_name(op, op.attr<int32_t>("gate_activation")),
                                          activation_name(op, op.attr<int32_t>("activation")), op.attr<bool>("origin_mode"));
            op.set_output("Hidden", step.hidden, op.input("Input").lod);
            op.set_output("ResetHiddenPrev", step.reset_hidden);
            if (op.is_read("Gate")) op.set_output("Gate", at::cat({step.gates, step.candidate}, 1));
          })
    .doc("One step of a gated recurrent unit.")
    .input("Input", "[rows, 3 width]")
    .input("HiddenPrev", "the state before, [rows, width]")
    .input("Weight", "[width, 3 width]")
    .optional_input("Bias", "[1, 3 width]")
    .output("Hidden", "the state after")
    .output("ResetHiddenPrev", "the state before, times the reset gate")
    .output("Gate", "update gate, reset gate, candidate")
    .attr("activation", 2, "0 identity, 1 sigmoid, 2 tanh, 3 relu")
    .attr("gate_activation", 1, "of the gates")
    .attr("origin_mode", false, "as for gru")
    .infer_shape([](ShapeContext& context) {
      const auto &input = context.input("Input"), &hidden = context.input("HiddenPrev"), &weight = context.input("Weight");
      if (hidden.shape.size() != 2 || input.shape.size() != 2 || input.shape[1] != 3 * hidden.shape[1] ||
          weight.shape != std::vector<int64_t>{hidden.shape[1], input.shape[1]}) {
        return Status::invalid_argument("'{}' {}, '{}' {} and '{}' {} do not fit", input.name,
                                        graph::shape_to_string(input.shape), hidden.name, graph::shape_to_string(hidden.shape),
                                        weight.name, graph::shape_to_string(weight.shape));
      }
      context.set_output_like("Hidden", hidden);
      context.set_output_like("ResetHiddenPrev", hidden);
      context.set_output_like("Gate", input);
      return Status();
    });

struct LstmRule {
  std::string_view gate, cell, candidate;
  at::Tensor weight, of_input, of_forget, of_output;  // the last three: peepholes, undefined without
};

struct LstmState {
  at::Tensor hidden, cell;
};

// The order of the gates in x is candidate, input, forget, output.
LstmState lstm_step(const OpContext& op, const at::Tensor& x, const LstmState& before, const LstmRule& rule) {
  const std::vector<at::Tensor> sums = at::addmm(x, before.hidden, rule.weight).chunk(4, 1);
  const auto part = [&](size_t i, const at::Tensor& peephole, const at::Tensor& cell) {
    return peephole.defined() ? sums[i] + peephole * cell : sums[i];
  };
  const at::Tensor candidate = activate(op, part(0, {}, {}), rule.candidate);
  const at::Tensor input = activate(op, part(1, rule.of_input, before.cell), rule.gate);
  const at::Tensor forget = activate(op, part(2, rule.of_forget, before.cell), rule.gate);
  LstmState after;
  after.cell = candidate * input + before.cell * forget;
  const at::Tensor output = activate(op, part(3, rule.of_output, after.cell), rule.gate);
  after.hidden = output * activate(op, after.cell, rule.cell);
  return after;
}

LstmRule lstm_rule(const OpContext& op, int64_t width) {
  LstmRule rule{.gate = op.attr<std::string>("gate_activation"),
                .cell = op.attr<std::string>("cell_activation"),
                .candidate = op.attr<std::string>("candidate_activation"),
                .weight = op.tensor("Weight")};
  if (!op.attr<bool>("use_peepholes")) return rule;
  const at::Tensor bias = op.tensor("Bias").reshape({1, -1});
  if (bias.size(1) != 7 * width)
    op.fail("'{}' has {} values, expected 7 * {} with peepholes", op.input_name("Bias"), bias.size(1), width);
  rule.of_input = bias.narrow(1, 4 * width, width);
  rule.of_forget = bias.narrow(1, 5 * width, width);
  rule.of_output = bias.narrow(1, 6 * width, width);
  return rule;
}

void run_lstm(const OpContext& op) {
  const Value& input = op.input("Input");
  const int64_t width = op.tensor("Weight").size(0);
  check_width(op, input.tensor, 4, width);
  const Steps steps = make_steps(checked_offsets(op, "Input"), op.attr<bool>("is_reverse"));
  const at::Tensor x = take_rows(input.tensor, steps.rows) + op.tensor("Bias").reshape({1, -1}).narrow(1, 0, 4 * width);
  const LstmRule rule = lstm_rule(op, width);
  const at::TensorOptions plain = x.options().requires_grad(false);
  LstmState state{first_state(op, "H0", steps, width, plain), first_state(op, "C0", steps, width, plain)};
  std::vector<at::Tensor> hidden = {at::empty({0, width}, plain)}, cell = hidden;
  const std::vector<at::Tensor> parts = x.split_with_sizes(steps.counts);  // as in run_gru
  for (size_t i = 0; i < parts.size(); ++i) {
    const int64_t running = steps.counts[i];
    state = lstm_step(op, parts[i], {state.hidden.narrow(0, 0, running), state.cell.narrow(0, 0, running)}, rule);
    hidden.push_back(state.hidden);
    cell.push_back(state.cell);
  }
  const std::vector<int64_t> places = steps.places();
  op.set_output("Hidden", take_rows(at::cat(hidden), places), input.lod);
  op.set_output("Cell", take_rows(at::cat(cell), places), input.lod);
}

ARGOSY_OP("lstm", run_lstm)
    .doc("Long short-term memory along each sequence.")
    .input("Input", "sequences, [rows, 4 width]: for candidate, input, forget and output gate")
    .input("Weight", "[width, 4 width]")
    .input("Bias", "[1, 4 width], or [1, 7 width] with the weights of the peepholes behind")
    .optional_input("H0", "the state before each sequence")
    .optional_input("C0", "the cell before each sequence")
    .output("Hidden", "sequences, [rows, width]")
    .output("Cell", "sequences, [rows, width]")
    .optional_output("BatchGate", "not made")
    .optional_output("BatchCellPreAct", "not made")
    .attr("use_peepholes", true, "the gates see the cell")
    .attr("is_reverse", false, "from the end of each sequence")
    .attr("gate_activation", std::string("sigmoid"), "sigmoid | tanh | relu | identity")
    .attr("cell_activation", std::string("tanh"), "of the cell on its way out")
    .attr("candidate_activation", std::string("tanh"), "of the candidate")
    .infer_shape([](ShapeContext& context) {
      const auto &input = context.input("Input"), &weight = context.input("Weight"), &bias = context.input("Bias");
      const int64_t width = weight.shape.empty() ? 0 : weight.shape[0], wanted = context.attribute<bool>("use_peepholes") ? 7 : 4;
      if (input.shape.size() != 2 || weight.shape.size() != 2 || weight.shape[1] != 4 * width || input.shape[1] != 4 * width ||
          bias.shape != std::vector<int64_t>{1, wanted * width}) {
        return Status::invalid_argument("'{}' {}, '{}' {} and '{}' {} do not fit: expected [rows, 4 n], [n, 4 n] and [1, {} n]",
                                        input.name, graph::shape_to_string(input.shape), weight.name,
                                        graph::shape_to_string(weight.shape), bias.name, graph::shape_to_string(bias.shape),
                                        wanted);
      }
      context.set_output("Hidden", {input.shape[0], width}, input.dtype, input.lod_level);
      context.set_output("Cell", {input.shape[0], width}, input.dtype, input.lod_level);
      context.set_output("BatchGate", input.shape, input.dtype);
      context.set_output("BatchCellPreAct", {input.shape[0], width}, input.dtype);
      return Status();
    });

ARGOSY_OP("lstm_unit",
          [](const OpContext& op) {
            const at::Tensor &x = op.tensor("X"), &before = op.tensor("C_prev");
            const int64_t width = before.size(1);
            if (x.size(1) != 4 * width)
              op.fail("'{}' has {} values per row, expected 4 * {}", op.input_name("X"), x.size(1), width);
            const auto part = [&](int64_t i) { return x.narrow(1, i * width, width); };
            const at::Tensor forget = at::sigmoid(part(1) + op.attr<float>("forget_bias"));
            const at::Tensor cell = forget * before + at::sigmoid(part(0)) * at::tanh(part(3));
            op.set_output("C", cell, op.input("X").lod);
            op.set_output("H", at::sigmoid(part(2)) * at::tanh(cell), op.input("X").lod);
          })
    .doc("One step of long short-term memory.")
    .input("X", "[rows, 4 width]: input, forget and output gate, candidate")
    .input("C_prev", "the cell before, [rows, width]")
    .output("C", "the cell after")
    .output("H", "the state after")
    .attr("forget_bias", 0.0f, "added to the forget gate")
    .infer_shape([](ShapeContext& context) {
      context.set_output_like("C", context.input("C_prev"));
      context.set_output_like("H", context.input("C_prev"));
      return Status();
    });

}  // namespace
}  // namespace argosy::engine
