#include "argosy/engine/program/run_frame.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include "argosy/base/clock.h"
#include "argosy/engine/program/capture_notes.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

// "'fc' (X='x' [128, 31] float32, Y='w' [32, 128] float32)": enough to see what does not fit.
std::string describe(const Instruction& instruction, Frame& frame) {
  std::string text = fmt::format("operator '{}'", instruction.desc.type);
  std::string inputs;
  for (const SlotBinding& binding : instruction.inputs) {
    if (binding.slot.empty()) continue;
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

void check_finite(const at::Tensor& tensor, const std::string& name) {
  if (!tensor.defined() || !(tensor.is_floating_point() || tensor.is_complex()) || tensor.isfinite().all().item<bool>()) return;
  throw KernelError(
      Status::failed_precondition("variable '{}' has {} NaN and {} infinite of {} values (FLAGS_check_nan_inf is set)", name,
                                  tensor.isnan().sum().item<int64_t>(), tensor.isinf().sum().item<int64_t>(), tensor.numel()));
}

void check_finite(const Value& value, const std::string& name) {
  check_finite(value.tensor, name);
  if (value.array != nullptr) {
    for (const Value& one : *value.array) check_finite(one, name);
  }
  if (value.rows != nullptr) {
    for (const LookupGradient::Piece& piece : value.rows->pieces) check_finite(piece.gradient, name);
  }
}

void check_outputs(const Instruction& instruction, Frame& frame) {
  const c10::NoGradGuard no_grad;
  for_each_value(instruction.outputs, [&](int32_t index) {
    check_finite(frame.value(index), frame.program().values()[static_cast<size_t>(index)].name);
  });
}

Status run_one(const Instruction& instruction, Frame& frame) {
  if (frame.notes != nullptr) frame.notes->begin(instruction);
  RETURN_IF_ERROR(status_of(instruction, frame, [&] {
    at::AutoGradMode grad_mode(instruction.records_gradient && frame.segment != Frame::Segment::first);
    instruction.kernel(OpContext(instruction, frame));
    if (frame.check_finite) check_outputs(instruction, frame);
    frame.note_made(instruction);
    for (int32_t value : instruction.detached) {
      at::Tensor& tensor = frame.value(value).tensor;
      if (tensor.defined()) tensor = tensor.detach();
    }
  }));
  for (int32_t value : instruction.last_uses) frame.value(value) = Value{};
  return {};
}

}  // namespace

Status status_of(const Instruction& instruction, Frame& frame, const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const KernelError& error) {
    return error.status().with_context("{}", describe(instruction, frame));
  } catch (const c10::Error& error) {
    return Status::invalid_argument("{}: {}", describe(instruction, frame), error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return Status::resource_exhausted("{}: out of memory", describe(instruction, frame));
  } catch (const std::exception& error) {
    return Status::internal("{}: {}", describe(instruction, frame), error.what());
  }
}

void OpContext::run_body() const {
  not_captured("runs a block as often as values say");
  for (const Instruction& instruction : instruction_.body) {
    if (const Status status = run_one(instruction, frame_); !status.ok()) throw KernelError(status);
  }
}

Status run_frame(Frame& frame) {
  const auto& instructions = frame.program().instructions();
  std::vector<double>& seconds = frame.op_seconds();
  if (seconds.empty()) {
    for (const Instruction& instruction : instructions) RETURN_IF_ERROR(run_one(instruction, frame));
    return {};
  }
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Stopwatch watch;
    RETURN_IF_ERROR(run_one(instructions[i], frame));
    seconds[i] += watch.seconds();
  }
  return {};
}

}  // namespace argosy::engine
