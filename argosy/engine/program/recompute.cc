#include "argosy/engine/program/recompute.h"

#include <algorithm>
#include <set>

#include "argosy/engine/program/kernel.h"
#include "argosy/graph/backward.h"

namespace argosy::engine {
namespace {

// They have no gradient, and computing them again gives the same.
const std::set<std::string, std::less<>> kPure = {"shape",       "size",       "range",       "fill_zeros_like", "equal",
                                                  "not_equal",   "less_than",  "less_equal",  "greater_than",    "greater_equal",
                                                  "logical_and", "logical_or", "logical_not", "logical_xor",     "isfinite",
                                                  "isnan",       "isinf"};
// Their outputs that outlive the run are left alone the second time.
const std::set<std::string, std::less<>> kMovesStatistics = {"batch_norm"};

class Segments {
 public:
  Segments(const std::vector<ValueInfo>& values, const std::vector<std::string>& checkpoints, int32_t next_state)
      : values_(values),
        checkpoints_(checkpoints.begin(), checkpoints.end()),
        first_state_(next_state),
        next_state_(next_state) {}

  void run(std::vector<Instruction>& instructions) {
    size_t end = 0;  // behind the last maker of a checkpoint
    for (size_t i = 0; i < instructions.size(); ++i) {
      if (makes_checkpoint(instructions[i])) end = i + 1;
      for_each_value(instructions[i].inputs,
                     [&](int32_t value) { last_read_.resize(values_.size()), last_read_[at(value)] = i + 1; });
    }
    last_read_.resize(values_.size());
    for (size_t i = 0; i < instructions.size(); ++i) {
      const bool closes = makes_checkpoint(instructions[i]);
      const bool taken = i < end && can_repeat(instructions[i]);
      note_seen(instructions[i]);
      if (!taken) close(i);
      (taken ? open_ : done_).push_back(std::move(instructions[i]));
      if (taken && closes) close(i + 1);
    }
    instructions = std::move(done_);
  }
  int32_t states() const { return next_state_ - first_state_; }

 private:
  static size_t at(int32_t value) { return static_cast<size_t>(value); }

  bool makes_checkpoint(const Instruction& instruction) const {
    bool found = false;
    for_each_value(instruction.outputs, [&](int32_t value) { found |= checkpoints_.contains(values_[at(value)].name); });
    return found;
  }

  void note_seen(const Instruction& instruction) {
    for_each_value(instruction.inputs, [&](int32_t value) { seen_.insert(value); });
    for_each_value(instruction.outputs, [&](int32_t value) { seen_.insert(value); });
  }

  bool can_repeat(const Instruction& instruction) const {
    const std::string& type = instruction.desc.type;
    if (instruction.uses_rows || !instruction.body.empty() || type == "print" || type == graph::kBackwardOp) return false;
    if (!instruction.differentiable && !kPure.contains(type)) return false;
    bool can = true;
    const auto is_tensor = [&](int32_t value) {
      const graph::VarDesc* desc = values_[at(value)].desc;
      can &= desc == nullptr || desc->kind == graph::VarKind::lod_tensor;
    };
    for_each_value(instruction.inputs, is_tensor);
    for_each_value(instruction.outputs, is_tensor);
    for_each_value(instruction.outputs, [&](int32_t value) {
      can &= values_[at(value)].persistable ? kMovesStatistics.contains(type) : !seen_.contains(value);
    });
    return can;
  }

  // What is open becomes one instruction, before that at `next` of the old list.
  void close(size_t next) {
    const bool records = std::any_of(open_.begin(), open_.end(), [](const Instruction& one) { return one.records_gradient; });
    if (open_.size() < 2 || !records) {
      std::move(open_.begin(), open_.end(), std::back_inserter(done_));
    } else {
      done_.push_back(segment(next));
    }
    open_.clear();
  }

  Instruction segment(size_t next) {
    const KernelInfo* kernel = find_kernel(kSegmentOp);
    Instruction made{.kernel = kernel->kernel, .records_gradient = true, .state = next_state_++};
    made.desc.type = std::string(kSegmentOp);
    std::set<int32_t> reads, writes;
    for (const Instruction& inner : open_) {
      made.cpu_only |= inner.cpu_only;
      for_each_value(inner.inputs, [&](int32_t value) {
        if (!writes.contains(value)) reads.insert(value);
      });
      for_each_value(inner.outputs, [&](int32_t value) { writes.insert(value); });
      for (const int32_t value : inner.detached) made.detached.push_back(value);
    }
    std::vector<int32_t> kept, dropped;
    for (const int32_t value : writes) {
      const bool read_later = last_read_[at(value)] > next;
      (read_later || values_[at(value)].fetched || values_[at(value)].persistable ? kept : dropped).push_back(value);
    }
    made.inputs = {{"X", {reads.begin(), reads.end()}}};
    made.outputs = {{"Kept", std::move(kept)}, {"", std::move(dropped)}};
    made.body = std::move(open_);
    return made;
  }

  const std::vector<ValueInfo>& values_;
  const std::set<std::string> checkpoints_;
  const int32_t first_state_;
  int32_t next_state_;
  std::vector<size_t> last_read_;  // for each value: the place behind its last reader
  std::set<int32_t> seen_;
  std::vector<Instruction> open_, done_;
};

}  // namespace

int32_t make_segments(std::vector<Instruction>& instructions, const std::vector<ValueInfo>& values,
                      const std::vector<std::string>& checkpoints, int32_t next_state) {
  if (checkpoints.empty()) return 0;
  Segments segments(values, checkpoints, next_state);
  segments.run(instructions);
  return segments.states();
}

}  // namespace argosy::engine
