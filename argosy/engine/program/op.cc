#include "argosy/engine/program/op.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "argosy/base/random.h"
#include "argosy/engine/program/capture_notes.h"
#include "argosy/engine/program/frame.h"
#include "argosy/graph/add_function.h"

namespace argosy::engine {
namespace {

const std::string& name_of(Frame& frame, int32_t value) { return frame.program().values()[static_cast<size_t>(value)].name; }

}  // namespace

OpRegistration::OpRegistration(std::string type, Kernel kernel)
    : schema_(&graph::OpSchemas::instance().add({.type = type})), type_(type) {
  kernel_entry(type) = {.kernel = kernel};
}

OpRegistration& OpRegistration::doc(std::string text) { return schema_->doc = std::move(text), *this; }
OpRegistration& OpRegistration::input(std::string name, std::string text) {
  schema_->inputs.push_back({.name = std::move(name), .doc = std::move(text)});
  return *this;
}
OpRegistration& OpRegistration::optional_input(std::string name, std::string text) {
  schema_->inputs.push_back({.name = std::move(name), .doc = std::move(text), .optional = true});
  return *this;
}
OpRegistration& OpRegistration::input_list(std::string name, std::string text) {
  schema_->inputs.push_back({.name = std::move(name), .doc = std::move(text), .list = true});
  return *this;
}
OpRegistration& OpRegistration::optional_input_list(std::string name, std::string text) {
  schema_->inputs.push_back({.name = std::move(name), .doc = std::move(text), .list = true, .optional = true});
  return *this;
}
OpRegistration& OpRegistration::output(std::string name, std::string text) {
  schema_->outputs.push_back({.name = std::move(name), .doc = std::move(text)});
  return *this;
}
OpRegistration& OpRegistration::optional_output(std::string name, std::string text) {
  schema_->outputs.push_back({.name = std::move(name), .doc = std::move(text), .optional = true});
  return *this;
}
OpRegistration& OpRegistration::output_list(std::string name, std::string text) {
  schema_->outputs.push_back({.name = std::move(name), .doc = std::move(text), .list = true});
  return *this;
}
OpRegistration& OpRegistration::optional_output_list(std::string name, std::string text) {
  schema_->outputs.push_back({.name = std::move(name), .doc = std::move(text), .list = true, .optional = true});
  return *this;
}
OpRegistration& OpRegistration::attr(std::string name, graph::Attribute otherwise, std::string text) {
  schema_->attributes.push_back({.name = std::move(name), .doc = std::move(text), .value = std::move(otherwise)});
  return *this;
}
OpRegistration& OpRegistration::infer_shape(graph::ShapeRule rule) { return schema_->infer_shape = std::move(rule), *this; }
OpRegistration& OpRegistration::no_gradient() { return kernel_entry(type_).differentiable = false, *this; }

OpRegistration& OpRegistration::cpu_only() { return kernel_entry(type_).cpu_only = true, *this; }

OpRegistration& OpRegistration::function(graph::FunctionSchema function) {
  graph::add_function(*schema_, std::move(function));
  return *this;
}

const graph::OpDesc& OpContext::desc() const { return instruction_.desc; }

size_t OpContext::input_count(std::string_view slot) const {
  const SlotBinding* binding = instruction_.find_input(slot);
  return binding == nullptr ? 0 : binding->values.size();
}

size_t OpContext::output_count(std::string_view slot) const {
  const SlotBinding* binding = instruction_.find_output(slot);
  return binding == nullptr ? 0 : binding->values.size();
}

const Value& OpContext::input(std::string_view slot, size_t index) const {
  const SlotBinding* binding = instruction_.find_input(slot);
  if (binding == nullptr || index >= binding->values.size()) fail("input '{}' is missing", slot);
  const Value& value = frame_.value(binding->values[index]);
  if (!value.defined()) {
    fail("variable '{}' (input '{}') has no value; feed it, or run the startup program first",
         name_of(frame_, binding->values[index]), slot);
  }
  return value;
}

std::vector<at::Tensor> OpContext::tensors(std::string_view slot) const {
  std::vector<at::Tensor> all(input_count(slot));
  for (size_t i = 0; i < all.size(); ++i) all[i] = tensor(slot, i);
  return all;
}

const std::string& OpContext::input_name(std::string_view slot, size_t index) const {
  const SlotBinding* binding = instruction_.find_input(slot);
  if (binding == nullptr || index >= binding->values.size()) fail("input '{}' is missing", slot);
  return name_of(frame_, binding->values[index]);
}

bool OpContext::is_parameter(std::string_view slot, size_t index) const {
  const SlotBinding* binding = instruction_.find_input(slot);
  return binding != nullptr && index < binding->values.size() &&
         frame_.program().values()[static_cast<size_t>(binding->values[index])].persistable;
}

const std::vector<int64_t>& OpContext::offsets(std::string_view slot, size_t index) const {
  const Value& value = input(slot, index);
  if (value.lod == nullptr || value.lod->empty()) {
    fail("variable '{}' (input '{}') has no sequence boundaries (LoD); declare it with lod_level=1 and feed a LoD tensor",
         input_name(slot, index), slot);
  }
  return value.offsets();
}

Value& OpContext::output(std::string_view slot, size_t index) const {
  const SlotBinding* binding = instruction_.find_output(slot);
  if (binding == nullptr || index >= binding->values.size()) fail("output '{}' is missing", slot);
  return frame_.value(binding->values[index]);
}

bool OpContext::is_read(std::string_view slot) const {
  const SlotBinding* binding = instruction_.find_output(slot);
  if (binding == nullptr || binding->values.empty()) return false;
  return std::find(instruction_.last_uses.begin(), instruction_.last_uses.end(), binding->values[0]) ==
         instruction_.last_uses.end();
}

bool OpContext::is_persistable_output(std::string_view slot, size_t index) const {
  return frame_.program().values()[static_cast<size_t>(instruction_.find_output(slot)->values[index])].persistable;
}

void OpContext::set_value(std::string_view slot, Value value, size_t index) const {
  const SlotBinding* binding = instruction_.find_output(slot);
  if (binding == nullptr || index >= binding->values.size()) return;
  const int32_t at = binding->values[index];
  const bool persistable = is_persistable_output(slot, index);
  if (persistable && frame_.segment == Frame::Segment::again) return;
  frame_.value(at) = std::move(value);
  if (persistable) frame_.store_persistable(at);
}

void OpContext::set_output(std::string_view slot, at::Tensor tensor, LodPtr lod, size_t index) const {
  set_value(slot, Value{.tensor = std::move(tensor), .lod = std::move(lod)}, index);
}

void OpContext::write_output(std::string_view slot, const at::Tensor& tensor, size_t index) const {
  if (index >= output_count(slot)) return;
  if (frame_.segment == Frame::Segment::again && is_persistable_output(slot, index)) return;
  Value& target = output(slot, index);
  if (!target.tensor.defined() || target.tensor.sizes() != tensor.sizes() ||
      target.tensor.scalar_type() != tensor.scalar_type()) {
    return set_output(slot, tensor.detach().clone(), nullptr, index);
  }
  at::NoGradGuard no_grad;
  target.tensor.detach().copy_(tensor);
}

graph::DType OpContext::dtype_attr(std::string_view name) const {
  const int32_t number = attr<int32_t>(name);
  const auto dtype = graph::dtype_from_number(number);
  if (!dtype) fail("attribute '{}' = {} is not a known element type", name, number);
  return *dtype;
}

bool OpContext::training() const { return instruction_.records_gradient; }
bool OpContext::bfloat16_matmul() const { return frame_.bfloat16_matmul; }

const c10::Device& OpContext::device() const { return frame_.device; }
at::TensorOptions OpContext::options(at::ScalarType type) const { return at::TensorOptions(frame_.device).dtype(type); }

at::Tensor OpContext::on_cpu(std::string_view slot, size_t index) const {
  if (captures()) not_captured(fmt::format("reads '{}' on the CPU", input_name(slot, index)));
  const Value& value = input(slot, index);
  return value.fed.defined() ? value.fed : value.tensor.cpu();
}

void OpContext::check_on_cpu(std::string_view slot, size_t index, std::function<void(const at::Tensor&)> check) const {
  const Value& value = input(slot, index);
  if (!captures()) return check(value.fed.defined() ? value.fed : value.tensor.cpu());
  const CaptureNotes::Pause pause(*frame_.notes);
  check(value.fed.defined() ? value.fed : value.tensor.cpu());
  frame_.notes->check_before_replay(instruction_.find_input(slot)->values[index], std::move(check));
}

bool OpContext::captures() const { return frame_.notes != nullptr; }

void OpContext::not_captured(const std::string& what) const {
  if (captures()) frame_.notes->refuse(what);
}

int64_t OpContext::settled_seed(int64_t seed) const {
  if (seed == 0 && frame_.program().program().random_seed != 0) {
    // One stream per thread, variable and run, so that the program's seed fixes every run of it. First values are numbered
    // (graph::init_op); others go by the variable's name and not the operator's place.
    const int32_t number = desc().attribute_or<int32_t>(graph::kRandomStream, 0);
    const std::string& name = name_of(frame_, instruction_.outputs.front().values.front());
    const uint64_t stream =
        (number > 0 ? mix64(static_cast<uint64_t>(number)) : mix64(name)) ^ (frame_.stream << 56 | frame_.step);
    seed = static_cast<int64_t>(Random(static_cast<uint64_t>(frame_.program().program().random_seed), stream)() >> 1);
  }
  return seed == 0 && frame_.segment != Frame::Segment::none ? frame_.segment_seed(instruction_.state) : seed;
}

at::Generator OpContext::generator(int64_t seed) const {
  not_captured("draws random numbers on the CPU");
  const int64_t settled = settled_seed(seed);
  if (settled == 0) return at::detail::getDefaultCPUGenerator();
  return at::make_generator<at::CPUGeneratorImpl>(static_cast<uint64_t>(settled));
}

at::Generator OpContext::device_generator(int64_t seed) const {
  const int64_t settled = settled_seed(seed);
  at::Generator source = at::globalContext().defaultGenerator(frame_.device);
  if (settled == 0) return source;
  not_captured("draws random numbers by a seed that changes with the step, or is its own; captured steps draw by paddle.seed");
  if (frame_.device.is_cpu()) return at::make_generator<at::CPUGeneratorImpl>(static_cast<uint64_t>(settled));
  at::Generator own = source.clone();
  own.set_current_seed(static_cast<uint64_t>(settled));
  return own;
}

std::shared_ptr<void>& OpContext::state_slot() const { return frame_.state(instruction_.state); }

}  // namespace argosy::engine
