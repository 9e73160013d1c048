#include "argosy/engine/program/frame.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include "argosy/base/mutex.h"

namespace argosy::engine {

Frame::Frame(std::shared_ptr<const PreparedProgram> program, Scope& scope, const Context& context)
    : program_(std::move(program)),
      scope_(scope),
      context_(context),
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

// What servers write comes anew for each step.
void Frame::bind_remote(size_t index, const Value& stored) {
  Value here = stored;
  here.tensor = device.is_cpu() ? stored.tensor.clone() : bring(stored.tensor);
  if (program_->values()[index].wants_gradient) here.tensor.set_requires_grad(true);
  values_[index] = std::move(here);
}

// What another device, or a file, has left goes where this program runs. Of several threads that begin at once one brings it, and
// the others look after it has.
void Frame::bring_stored() {
  static Mutex& mutex = *new Mutex;
  MutexLock lock(mutex);
  const auto& infos = program_->values();
  for (size_t i = 0; i < infos.size(); ++i) {
    if (!infos[i].persistable) continue;
    if (stored_[i] == nullptr) stored_[i] = scope_.find(infos[i].name);
    if (stored_[i] == nullptr) continue;
    at::Tensor& tensor = stored_[i]->tensor;
    if (infos[i].remote && tensor.defined() && !tensor.is_cpu()) tensor = tensor.cpu();
    if (!infos[i].remote && tensor.defined() && tensor.device() != device) tensor = tensor.to(device);
  }
}

DeviceCopies& Frame::copies() {
  if (!copies_) copies_.emplace(device);
  return *copies_;
}

void Frame::feed(int32_t index, Value value) {
  if (value.tensor.device() != device) {
    if (value.tensor.is_cpu()) value.fed = value.tensor;
    value.tensor = copies().to_device(value.tensor);
  }
  if (program_->values()[static_cast<size_t>(index)].wants_gradient) value.tensor = value.tensor.detach().set_requires_grad(true);
  values_[static_cast<size_t>(index)] = std::move(value);
  fed_.push_back(index);
}

Value Frame::fetch(int32_t index) {
  Value value = values_[static_cast<size_t>(index)];
  if (!value.tensor.defined()) return value;
  const auto made = made_.find(index);
  value.tensor = copies().to_cpu(value.tensor.detach(), made == made_.end() ? nullptr : &made->second);
  value.fed = at::Tensor();
  return value;
}

void Frame::note_made(const Instruction& instruction) {
  if (device.is_cpu() || notes != nullptr) return;
  for (const int32_t index : instruction.fetched)
    made_.try_emplace(index, device.type()).first->second.record(current_stream(device));
}

Status Frame::begin() {
  ++step;
  fed_.clear();
  bring_stored();
  bind_stored();
  return {};
}

void Frame::bind_stored() {
  pending_lookups_.clear();
  const auto& infos = program_->values();
  for (size_t i = 0; i < infos.size(); ++i) {
    if (!infos[i].persistable || stored_[i] == nullptr || !stored_[i]->defined()) continue;
    if (infos[i].remote && is_apart(device))
      bind_remote(i, *stored_[i]);
    else if (infos[i].wants_gradient)
      bind_leaf(i, *stored_[i]);
    else
      values_[i] = *stored_[i];
  }
}

std::vector<std::pair<int32_t, Value*>> Frame::stored() const {
  std::vector<std::pair<int32_t, Value*>> found;
  for (size_t i = 0; i < stored_.size(); ++i) {
    if (stored_[i] != nullptr && stored_[i]->tensor.defined()) found.emplace_back(static_cast<int32_t>(i), stored_[i]);
  }
  return found;
}

void Frame::take_rows(PulledTables& rows) {
  for (auto& [table, prefetched] : rows) {
    PulledRows& pulled = pulled_rows_[table];
    std::swap(pulled, prefetched);
    pulled.step = step;
  }
}

std::unique_ptr<Frame> Frame::another() const {
  auto frame = std::make_unique<Frame>(program_, scope_, context_);
  frame->bfloat16_matmul = bfloat16_matmul;
  frame->check_finite = check_finite;
  frame->device = device;
  return frame;
}

int64_t Frame::segment_seed(int32_t state) {
  if (segment == Segment::again) return segment_seeds_.at(state);
  at::Generator source = at::detail::getDefaultCPUGenerator();
  std::lock_guard lock(source.mutex());
  const uint64_t drawn = at::check_generator<at::CPUGeneratorImpl>(source)->random64();
  return segment_seeds_[state] = static_cast<int64_t>(drawn >> 1 | 1);
}

void Frame::measure(bool on) { op_seconds_.assign(on ? program_->instructions().size() : 0, 0.0); }

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
