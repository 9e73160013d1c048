#include "argosy/table/dense_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "argosy/base/mutex.h"
#include "argosy/optim/initial_states.h"
#include "argosy/table/rule_states.h"

namespace argosy::table {
namespace {

struct DenseHead {
  uint64_t size;
  uint64_t steps;
  uint32_t initialised;
  uint32_t element_states;
  uint32_t scalars;
  uint32_t unused;
};
static_assert(sizeof(DenseHead) == 32);

std::string_view float_bytes(std::span<const float> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

const char* take(const char* from, std::vector<float>& to) {
  if (!to.empty()) std::memcpy(to.data(), from, to.size() * sizeof(float));
  return from + to.size() * sizeof(float);
}

Status check_size(const DenseSpec& spec, size_t found) {
  if (found == spec.size) return {};
  return Status::invalid_argument("table '{}' has {} elements, {} were given", spec.name, spec.size, found);
}

}  // namespace

Result<std::unique_ptr<DenseTable>> DenseTable::make(DenseSpec spec) {
  RETURN_IF_ERROR(spec.check());
  std::unique_ptr<optim::Rule> rule;
  if (spec.mode == Mode::gradient) {
    ASSIGN_OR_RETURN(rule, optim::make_rule(spec.rule, spec.hyper_parameters));
  }
  return std::unique_ptr<DenseTable>(new DenseTable(std::move(spec), std::move(rule)));
}

DenseTable::DenseTable(DenseSpec spec, std::unique_ptr<optim::Rule> rule)
    : spec_(std::move(spec)), rule_(std::move(rule)), value_(spec_.size, 0.0f) {
  if (!rule_) return;
  scalars_ = rule_->initial_scalars();
  states_ = optim::initial_element_states(*rule_, spec_.size);
}

bool DenseTable::initialised() const {
  MutexLock lock(mutex_);
  return initialised_;
}

Result<bool> DenseTable::set_if_absent(std::span<const float> value) {
  RETURN_IF_ERROR(check_size(spec_, value.size()));
  MutexLock lock(mutex_);
  if (initialised_) return false;
  keep();
  std::copy(value.begin(), value.end(), value_.begin());
  initialised_ = true;
  return true;
}

Status DenseTable::set(std::span<const float> value) {
  RETURN_IF_ERROR(check_size(spec_, value.size()));
  MutexLock lock(mutex_);
  keep();
  std::copy(value.begin(), value.end(), value_.begin());
  if (rule_) {
    scalars_ = rule_->initial_scalars();
    states_ = optim::initial_element_states(*rule_, spec_.size);
  }
  initialised_ = true;
  return {};
}

Status DenseTable::apply(float learning_rate, std::span<const float> gradient) {
  RETURN_IF_ERROR(check_size(spec_, gradient.size()));
  if (!rule_) return Status::failed_precondition("table '{}' is a geo table: it takes differences, not gradients", spec_.name);
  MutexLock lock(mutex_);
  if (!initialised_) return Status::failed_precondition("table '{}' gets a gradient before it has a value", spec_.name);
  keep();
  const float* grad = gradient.data();
  if (spec_.regularization) {
    scratch_.assign(gradient.begin(), gradient.end());
    optim::regularize(*spec_.regularization, value_, scratch_);
    grad = scratch_.data();
  }
  std::array<float*, optim::kMaxElementStates> states{};
  for (size_t k = 0; k < rule_->element_states(); ++k) states[k] = states_.data() + k * spec_.size;
  const optim::Step step = rule_->begin_step(learning_rate, scalars_);
  rule_->apply(step, value_.data(), grad, states.data(), spec_.size);
  ++steps_;
  return {};
}

Status DenseTable::add(std::span<const float> delta) {
  RETURN_IF_ERROR(check_size(spec_, delta.size()));
  if (rule_) return Status::failed_precondition("table '{}' takes gradients, not differences: it is not a geo table", spec_.name);
  MutexLock lock(mutex_);
  if (!initialised_) return Status::failed_precondition("table '{}' gets a difference before it has a value", spec_.name);
  keep();
  for (size_t i = 0; i < delta.size(); ++i) value_[i] += delta[i];
  ++steps_;
  return {};
}

Status DenseTable::copy_out(std::span<float> out) const {
  RETURN_IF_ERROR(check_size(spec_, out.size()));
  MutexLock lock(mutex_);
  if (!initialised_) return Status::failed_precondition("table '{}' has no value yet: the first worker sets it", spec_.name);
  std::copy(value_.begin(), value_.end(), out.begin());
  return {};
}

std::optional<double> DenseTable::norm(size_t most) const {
  MutexLock lock(mutex_);
  if (!initialised_) return std::nullopt;
  const size_t step = std::max<size_t>(value_.size() / std::max<size_t>(most, 1), 1);
  double squares = 0, looked_at = 0;
  for (size_t i = 0; i < value_.size(); i += step, ++looked_at) squares += static_cast<double>(value_[i]) * value_[i];
  return looked_at == 0 ? 0 : std::sqrt(squares / looked_at * static_cast<double>(value_.size()));
}

Result<std::span<float>> DenseTable::state_memory(size_t state, size_t numbers) {
  ASSIGN_OR_RETURN(const StatePlace place, find_state(rule_.get(), state, spec_.name));
  const std::span<float> memory = place.scalar ? std::span(scalars_).subspan(place.index, 1)
                                               : std::span(states_).subspan(place.index * spec_.size, spec_.size);
  if (memory.size() == numbers) return memory;
  return Status::invalid_argument("table '{}': state {} has {} numbers, {} were given", spec_.name, state, memory.size(),
                                  numbers);
}

Status DenseTable::copy_state(size_t state, std::span<float> out) const {
  MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const std::span<float> memory, const_cast<DenseTable*>(this)->state_memory(state, out.size()));
  std::copy(memory.begin(), memory.end(), out.begin());
  return {};
}

Status DenseTable::set_state(size_t state, std::span<const float> values) {
  MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const std::span<float> memory, state_memory(state, values.size()));
  keep();
  std::copy(values.begin(), values.end(), memory.begin());
  return {};
}

uint64_t DenseTable::steps() const {
  MutexLock lock(mutex_);
  return steps_;
}

uint64_t DenseTable::memory_bytes() const {
  MutexLock lock(mutex_);
  return (value_.capacity() + states_.capacity() + scratch_.capacity()) * sizeof(float);
}

std::string DenseTable::head_bytes(uint64_t size, uint64_t steps, bool initialised, std::span<const float> scalars) const {
  const DenseHead head{.size = size,
                       .steps = steps,
                       .initialised = initialised,
                       .element_states = static_cast<uint32_t>(rule_ ? rule_->element_states() : 0),
                       .scalars = static_cast<uint32_t>(scalars.size()),
                       .unused = 0};
  std::string out;
  out.reserve(sizeof(head) + (scalars.size() + size * (1 + head.element_states)) * sizeof(float));
  out.append(reinterpret_cast<const char*>(&head), sizeof(head));
  return out.append(float_bytes(scalars));
}

std::string DenseTable::export_bytes() const {
  MutexLock lock(mutex_);
  std::string out = head_bytes(spec_.size, steps_, initialised_, scalars_);
  return out.append(float_bytes(value_)).append(float_bytes(states_));
}

Status DenseTable::import_bytes(std::string_view bytes) {
  MutexLock lock(mutex_);
  const size_t expected = sizeof(DenseHead) + (scalars_.size() + value_.size() + states_.size()) * sizeof(float);
  DenseHead head{};
  if (bytes.size() >= sizeof(head)) std::memcpy(&head, bytes.data(), sizeof(head));
  const uint32_t element_states = rule_ ? static_cast<uint32_t>(rule_->element_states()) : 0;
  if (bytes.size() >= sizeof(head) &&
      (head.size != spec_.size || head.element_states != element_states || head.scalars != scalars_.size())) {
    return Status::invalid_argument(
        "table '{}' has {} elements, {} states and {} scalars; the saved block has {}, {} and {}: another model or optimizer",
        spec_.name, spec_.size, element_states, scalars_.size(), head.size, head.element_states, head.scalars);
  }
  if (bytes.size() != expected || head.initialised > 1) {
    return Status::data_loss("table '{}': {} bytes, expected {}: the saved block is damaged", spec_.name, bytes.size(), expected);
  }
  keep();
  steps_ = head.steps;
  initialised_ = head.initialised == 1;
  take(take(take(bytes.data() + sizeof(head), scalars_), value_), states_);
  return {};
}

// ---- As it was.

Result<DenseTable::Cut> DenseTable::begin_cut() {
  MutexLock lock(mutex_);
  if (cut_ != nullptr) return Status::failed_precondition("table '{}' is being written already", spec_.name);
  cut_ = std::make_unique<CutState>(CutState{.steps = steps_, .initialised = initialised_, .scalars = scalars_});
  return Cut(this);
}

void DenseTable::keep() {
  if (cut_ == nullptr || cut_->changed) return;
  cut_->changed = true;
  cut_->kept_from = cut_->read;
  const auto left = static_cast<std::ptrdiff_t>(cut_->read);
  cut_->kept.assign(value_.begin() + left, value_.end());
  for (size_t at = 0; at < states_.size(); at += spec_.size) {
    const auto state = states_.begin() + static_cast<std::ptrdiff_t>(at);
    cut_->kept.insert(cut_->kept.end(), state + left, state + static_cast<std::ptrdiff_t>(spec_.size));
  }
}

DenseTable::Cut::~Cut() {
  if (table_ == nullptr) return;
  MutexLock lock(table_->mutex_);
  table_->cut_.reset();
}

bool DenseTable::Cut::initialised() const {
  MutexLock lock(table_->mutex_);
  return table_->cut_->initialised;
}

std::string DenseTable::Cut::next(uint64_t elements) {
  MutexLock lock(table_->mutex_);
  CutState& cut = *table_->cut_;
  std::string out = table_->head_bytes(elements, cut.steps, cut.initialised, cut.scalars);
  const size_t arrays = 1 + (table_->rule_ ? table_->rule_->element_states() : 0);
  for (size_t array = 0; array < arrays; ++array) {
    const uint64_t left = table_->spec_.size - cut.kept_from;
    const float* from = cut.changed  ? cut.kept.data() + array * left + (cut.read - cut.kept_from)
                        : array == 0 ? table_->value_.data() + cut.read
                                     : table_->states_.data() + (array - 1) * table_->spec_.size + cut.read;
    out.append(float_bytes({from, elements}));
  }
  cut.read += elements;
  return out;
}

Status DenseTable::swap(DenseTable& other) {
  TwoMutexLock lock(mutex_, other.mutex_);
  if (cut_ != nullptr || other.cut_ != nullptr) {
    return Status::failed_precondition("table '{}' cannot get other values while it is written", spec_.name);
  }
  std::swap(initialised_, other.initialised_);
  std::swap(steps_, other.steps_);
  std::swap(scalars_, other.scalars_);
  std::swap(value_, other.value_);
  std::swap(states_, other.states_);
  return {};
}

}  // namespace argosy::table
