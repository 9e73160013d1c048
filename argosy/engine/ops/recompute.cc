// A part of a program whose values the backward computes once more, instead of the forward keeping them.
#include "argosy/engine/program/recompute.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>

#include "argosy/base/mutex.h"
#include "argosy/engine/program/frame.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using torch::autograd::SavedVariable;
using torch::autograd::variable_list;

const std::vector<int32_t>& values_of(const std::vector<SlotBinding>& bindings, std::string_view slot) {
  for (const SlotBinding& binding : bindings) {
    if (binding.slot == slot) return binding.values;
  }
  static const std::vector<int32_t> none;
  return none;
}

// While one lives, the frame runs a segment in this way.
class SegmentRun {
 public:
  SegmentRun(Frame& frame, Frame::Segment way) : frame_(frame), before_(frame.segment) { frame.segment = way; }
  ~SegmentRun() { frame_.segment = before_; }
  SegmentRun(const SegmentRun&) = delete;

 private:
  Frame& frame_;
  const Frame::Segment before_;
};

// What a segment reads, from its run until the backward's.
struct SavedInput {
  int32_t index;
  Value value;           // without its tensor where `saved` has it
  SavedVariable saved;   // of one that takes a gradient
  bool differentiable;
  uint32_t version = 0;  // of the others' tensors, which must stay what they were, but for statistics that move
};

// The segment in autograd's graph. Its values lie in the frame, whose thread runs the backward; a device's backward has a thread
// of its own, for which the frame's waits.
class SegmentNode final : public torch::autograd::Node {
 public:
  SegmentNode(const OpContext& op, std::vector<int32_t> outputs) : op_(op), outputs_(std::move(outputs)) {
    const auto& infos = op.frame().program().values();
    for (const int32_t index : values_of(op.instruction().inputs, "X")) {
      SavedInput input{.index = index, .value = op.frame().value(index), .saved = {}, .differentiable = false};
      at::Tensor& tensor = input.value.tensor;
      input.differentiable = tensor.defined() && tensor.requires_grad();
      if (input.differentiable) {
        edges_.push_back(tensor);
        input.saved = SavedVariable(tensor, false);
        tensor = at::Tensor();
      } else if (tensor.defined() && !infos[static_cast<size_t>(index)].persistable) {
        input.version = tensor._version();
      }
      inputs_.push_back(std::move(input));
    }
    set_next_edges(torch::autograd::collect_next_edges(edges_));
    takes_gradient_ = !edges_.empty();
    edges_.clear();
  }

  bool takes_gradient() const { return takes_gradient_; }

  variable_list apply(variable_list&& gradients) override {
    const MutexLock lock(saved_mutex_);
    Frame& frame = op_.frame();
    const std::vector<std::pair<int32_t, Value>> before = values_now();
    const variable_list leaves = put_inputs();
    {
      const SegmentRun again(frame, Frame::Segment::again);
      op_.run_body();
    }
    variable_list made, weights;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const at::Tensor& tensor = frame.value(outputs_[i]).tensor;
      if (!gradients[i].defined() || !tensor.requires_grad()) continue;
      made.push_back(tensor);
      weights.push_back(gradients[i]);
    }
    for (const auto& [index, value] : before) frame.value(index) = value;
    if (made.empty()) return variable_list(leaves.size());
    return torch::autograd::grad(made, leaves, weights, false, false, true);
  }

  void release_variables() override {
    const MutexLock lock(saved_mutex_);
    for (SavedInput& input : inputs_) {
      input.saved.reset_data();
      input.value = Value{};
    }
    released_ = true;
  }

  std::string name() const override { return "RecomputedSegment"; }

 private:
  std::vector<std::pair<int32_t, Value>> values_now() const {
    std::vector<std::pair<int32_t, Value>> values;
    const auto note = [&](const std::vector<SlotBinding>& bindings) {
      for (const SlotBinding& binding : bindings) {
        for (const int32_t index : binding.values) values.emplace_back(index, op_.frame().value(index));
      }
    };
    note(op_.instruction().inputs);
    note(op_.instruction().outputs);
    return values;
  }

  // The inputs as the first run saw them. Returns the leaves that gradients are wanted of.
  variable_list put_inputs() ARGOSY_REQUIRES(saved_mutex_) {
    if (released_) op_.fail("its gradient was computed and dropped before");
    variable_list leaves;
    for (SavedInput& input : inputs_) {
      Value value = input.value;
      if (input.differentiable) {
        value.tensor = input.saved.unpack(nullptr).detach().set_requires_grad(true);
        leaves.push_back(value.tensor);
      } else if (input.version != 0 && value.tensor._version() != input.version) {
        op_.fail("'{}' was written to after it was read: make it a checkpoint, or write elsewhere",
                 op_.frame().program().values()[static_cast<size_t>(input.index)].name);
      }
      op_.frame().value(input.index) = std::move(value);
    }
    return leaves;
  }

  const OpContext op_;
  const std::vector<int32_t> outputs_;
  variable_list edges_;
  bool takes_gradient_ = false;

  Mutex saved_mutex_;  // two backwards of one graph may meet here
  std::vector<SavedInput> inputs_ ARGOSY_GUARDED_BY(saved_mutex_);
  bool released_ ARGOSY_GUARDED_BY(saved_mutex_) = false;
};

// Values that others read and that an operator has made which records, in the order of "Kept".
std::vector<int32_t> carriers(const OpContext& op) {
  std::vector<int32_t> recorded;
  for (const Instruction& inner : op.instruction().body) {
    if (!inner.records_gradient) continue;
    for (const SlotBinding& binding : inner.outputs)
      recorded.insert(recorded.end(), binding.values.begin(), binding.values.end());
  }
  std::vector<int32_t> found;
  for (const int32_t index : values_of(op.instruction().outputs, "Kept")) {
    const at::Tensor& tensor = op.frame().value(index).tensor;
    if (op.frame().program().values()[static_cast<size_t>(index)].persistable) continue;
    if (std::find(recorded.begin(), recorded.end(), index) == recorded.end()) continue;
    if (tensor.defined() && at::isFloatingType(tensor.scalar_type())) found.push_back(index);
  }
  return found;
}

// Nodes count their references themselves from some version of torch on.
template <typename Node, typename... Args>
auto make_node(Args&&... args) {
  if constexpr (std::is_base_of_v<c10::intrusive_ptr_target, Node>)
    return c10::make_intrusive<Node>(std::forward<Args>(args)...);
  else
    return std::make_shared<Node>(std::forward<Args>(args)...);
}

void run_segment(const OpContext& op) {
  op.not_captured("computes a part of the forward once more in the backward");
  {
    const SegmentRun first(op.frame(), Frame::Segment::first);
    op.run_body();
  }
  const std::vector<int32_t> outputs = carriers(op);
  const auto node = make_node<SegmentNode>(op, outputs);
  if (!node->takes_gradient()) return;
  for (const int32_t index : outputs) {
    at::Tensor& tensor = op.frame().value(index).tensor;
    tensor = tensor.detach();  // a value of its own, also where the segment hands an input on
    torch::autograd::set_history(tensor, node);
  }
}

ARGOSY_OP(std::string(kSegmentOp), run_segment)
    .doc("Operators that run once in the forward, and once more in the backward for their gradients; made by a pass.")
    .optional_input_list("X", "what they read")
    .optional_output_list("Kept", "what others read of them");

}  // namespace
}  // namespace argosy::engine
