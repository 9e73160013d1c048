#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include "argosy/base/clock.h"
#include "argosy/engine/prepared.h"

namespace argosy::engine {
namespace {

// "'fc' (X='x' [128, 31] float32, Y='w' [32, 128] float32)": enough to see what does not fit.
std::string describe(const Instruction& instruction, Frame& frame) {
  std::string text = fmt::format("operator '{}'", instruction.desc.type);
  std::string inputs;
  for (const SlotBinding& binding : instruction.inputs) {
    for (int32_t index : binding.values) {
      const Value& value = frame.value(index);
      if (inputs.size() > 400) continue;
      inputs += fmt::format("{}{}='{}'", inputs.empty() ? "" : ", ", binding.slot,
                            frame.program().values()[static_cast<size_t>(index)].name);
      if (value.tensor.defined()) {
        inputs +=
            fmt::format(" {} {}", graph::shape_to_string(value.tensor.sizes().vec()), c10::toString(value.tensor.scalar_type()));
      }
    }
  }
  return inputs.empty() ? text : fmt::format("{} ({})", text, inputs);
}

}  // namespace

Frame::Frame(std::shared_ptr<const PreparedProgram> program, Scope& scope)
    : program_(std::move(program)),
      scope_(scope),
      values_(program_->values().size()),
      stored_(values_.size(), nullptr),
      states_(static_cast<size_t>(program_->state_count())) {}

// A leaf of this thread: the same storage as the scope's tensor, but its own version counter, so that another thread's
// update in place does not stop this thread's backward.
void Frame::bind_leaf(size_t index, const Value& stored) {
  at::Tensor& leaf = values_[index].tensor;
  if (leaf.defined() && leaf.is_leaf() && leaf.data_ptr() == stored.tensor.data_ptr() && leaf.sizes() == stored.tensor.sizes())
    return;
  leaf = stored.tensor.variable_data();
  leaf.set_requires_grad(true);
}

Status Frame::begin() {
  ++step;
  pending_lookups_.clear();
  const auto& infos = program_->values();
  for (size_t i = 0; i < infos.size(); ++i) {
    if (!infos[i].persistable) continue;
    if (stored_[i] == nullptr) stored_[i] = scope_.find(infos[i].name);
    if (stored_[i] == nullptr || !stored_[i]->defined()) continue;
    if (infos[i].wants_gradient)
      bind_leaf(i, *stored_[i]);
    else
      values_[i] = *stored_[i];
  }
  return {};
}

Status Frame::run() {
  const auto& instructions = program_->instructions();
  if (op_seconds_.empty()) {
    for (const Instruction& instruction : instructions) RETURN_IF_ERROR(run_one(instruction));
    return {};
  }
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Stopwatch watch;
    RETURN_IF_ERROR(run_one(instructions[i]));
    op_seconds_[i] += watch.seconds();
  }
  return {};
}

void Frame::take_rows(PulledTables& rows) {
  for (auto& [table, prefetched] : rows) {
    PulledRows& pulled = pulled_rows_[table];
    std::swap(pulled, prefetched);
    pulled.step = step;
  }
}

std::unique_ptr<Frame> Frame::another() const {
  auto frame = std::make_unique<Frame>(program_, scope_);
  frame->bfloat16_matmul = bfloat16_matmul;
  return frame;
}

void Frame::measure(bool on) { op_seconds_.assign(on ? program_->instructions().size() : 0, 0.0); }

Status Frame::run_one(const Instruction& instruction) {
  try {
    at::AutoGradMode grad_mode(instruction.records_gradient);
    instruction.kernel(OpContext(instruction, *this));
    for (int32_t value : instruction.detached) {
      at::Tensor& tensor = values_[static_cast<size_t>(value)].tensor;
      if (tensor.defined()) tensor = tensor.detach();
    }
  } catch (const KernelError& error) {
    return error.status().with_context("{}", describe(instruction, *this));
  } catch (const c10::Error& error) {
    return Status::invalid_argument("{}: {}", describe(instruction, *this), error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return Status::resource_exhausted("{}: out of memory", describe(instruction, *this));
  } catch (const std::exception& error) {
    return Status::internal("{}: {}", describe(instruction, *this), error.what());
  }
  for (int32_t value : instruction.last_uses) values_[static_cast<size_t>(value)] = Value{};
  return {};
}

void Frame::end() {
  pending_lookups_.clear();
  for (size_t i = 0; i < values_.size(); ++i) {
    if (!program_->values()[i].persistable) values_[i] = Value{};
  }
}

void Frame::store_persistable(int32_t index) {
  const auto at = static_cast<size_t>(index);
  if (stored_[at] == nullptr) {
    stored_[at] = scope_.find(program_->values()[at].name);
    if (stored_[at] == nullptr) stored_[at] = &scope_.var(program_->values()[at].name);
  }
  *stored_[at] = values_[at];
  stored_[at]->tensor = values_[at].tensor.detach();
}

}  // namespace argosy::engine
