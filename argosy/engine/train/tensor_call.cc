#include "argosy/engine/train/tensor_call.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "argosy/base/error.h"
#include "argosy/engine/program/frame.h"
#include "argosy/engine/program/op.h"
#include "argosy/engine/program/prepared.h"
#include "argosy/graph/build.h"
#include "argosy/graph/function_call.h"

namespace argosy::engine {
namespace {

using graph::OpSchemas;
using graph::Variable;

constexpr size_t kKeptCalls = 4096;

template <typename T>
void append_number(std::string& key, T value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Whether all shapes are alike: the function has one tensor, and the rule of its operator hands on whatever shape that has. One
// prepared call serves them all then, also tensors without axes and complex numbers, which are the kernel's matter.
bool takes_any_shape(const OpSchemas::Function& function, const std::vector<TensorArgument>& arguments) {
  using Rule = Status (*)(graph::ShapeContext&);
  const Rule* rule = function.op->infer_shape.target<Rule>();
  if (rule == nullptr || *rule != &graph::same_shape_as_x || function.function->prepare != nullptr) return false;
  const auto is_tensor = [](const TensorArgument& one) { return std::holds_alternative<at::Tensor>(one); };
  const auto is_list = [](const TensorArgument& one) { return std::holds_alternative<std::vector<at::Tensor>>(one); };
  return std::ranges::count_if(arguments, is_tensor) == 1 && std::ranges::none_of(arguments, is_list);
}

void append_tensor(std::string& key, const at::Tensor& tensor, bool any_shape) {
  append_number(key, static_cast<int8_t>(tensor.device().type()));
  append_number(key, static_cast<int8_t>(tensor.scalar_type()));
  append_number(key, static_cast<int8_t>(tensor.layout()));
  if (any_shape) return;
  append_number(key, static_cast<int8_t>(tensor.dim()));
  for (const int64_t size : tensor.sizes()) append_number(key, size);
}

// Arguments that are prepared alike have the same key.
std::string key_of(const OpSchemas::Function& function, const std::vector<TensorArgument>& arguments, bool any_shape) {
  std::string key;
  append_number(key, function.function);
  for (const TensorArgument& argument : arguments) {
    append_number(key, static_cast<int8_t>(argument.index()));
    if (const auto* tensor = std::get_if<at::Tensor>(&argument)) append_tensor(key, *tensor, any_shape);
    if (const auto* list = std::get_if<std::vector<at::Tensor>>(&argument)) {
      append_number(key, list->size());
      for (const at::Tensor& tensor : *list) append_tensor(key, tensor, any_shape);
    }
    if (const auto* attribute = std::get_if<graph::Attribute>(&argument)) {
      append_number(key, static_cast<int8_t>(attribute->index()));
      key += graph::attribute_to_string(*attribute) + '\n';
    }
  }
  return key;
}

// A program with the function's operators, ready to run: where its inputs and results are.
struct PreparedCall {
  std::unique_ptr<Frame> frame;
  std::vector<Instruction> instructions;  // of its program, which record as each call wants it
  std::vector<int32_t> inputs, results;
};

struct PreparedCalls {
  Scope scope;
  Context context;
  std::unordered_map<std::string, PreparedCall> calls;
};

// A program has no complex numbers; where they may come, the element type is that of their parts.
Variable variable_like(const at::Tensor& tensor, bool any_shape, std::vector<std::string>& names) {
  if ((tensor.is_complex() && !any_shape) || tensor.layout() != at::kStrided) {
    throw KernelError(Status::invalid_argument("a tensor is {}{}, expected a dense one of real numbers",
                                               c10::toString(tensor.scalar_type()), tensor.is_sparse() ? " and sparse" : ""));
  }
  const auto program = graph::default_main_program();
  graph::VarDesc desc;
  desc.name = names.emplace_back(fmt::format("input_{}", names.size()));
  desc.shape = any_shape ? std::vector<int64_t>{-1} : tensor.sizes().vec();
  desc.dtype = tensor.is_complex() ? graph::DType::float32 : dtype_of(tensor);
  desc.is_data = true;
  return {program, program->global_block(), program->global_block().put_var(std::move(desc))};
}

graph::Argument argument_of(const TensorArgument& given, bool any_shape, std::vector<std::string>& names) {
  if (const auto* tensor = std::get_if<at::Tensor>(&given)) return variable_like(*tensor, any_shape, names);
  if (const auto* attribute = std::get_if<graph::Attribute>(&given)) return *attribute;
  const auto* list = std::get_if<std::vector<at::Tensor>>(&given);
  if (list == nullptr) return {};
  std::vector<Variable> variables;
  for (const at::Tensor& tensor : *list) variables.push_back(variable_like(tensor, any_shape, names));
  return variables;
}

PreparedCall prepare(PreparedCalls& kept, const OpSchemas::Function& function, const std::vector<TensorArgument>& given,
                     bool any_shape) {
  const graph::ProgramGuard programs(graph::Program::create(), graph::Program::create());
  const graph::UniqueNameGuard unique;
  PrepareOptions options{.fuse = false};
  std::vector<graph::Argument> arguments;
  for (const TensorArgument& argument : given) arguments.push_back(argument_of(argument, any_shape, options.feeds));
  for (const Variable& result : graph::call(*function.op, *function.function, std::move(arguments)))
    options.fetches.push_back(result.name());
  const auto program = value_or_throw(PreparedProgram::create(*graph::default_main_program(), options));
  PreparedCall call{.frame = std::make_unique<Frame>(program, kept.scope, kept.context), .instructions = program->instructions()};
  for (const std::string& name : options.feeds) call.inputs.push_back(program->find_value(name));
  for (const std::string& name : options.fetches) call.results.push_back(program->find_value(name));
  return call;
}

PreparedCall& find_or_prepare(const OpSchemas::Function& function, const std::vector<TensorArgument>& arguments) {
  thread_local PreparedCalls kept;
  const bool any_shape = takes_any_shape(function, arguments);
  std::string key = key_of(function, arguments, any_shape);
  if (const auto found = kept.calls.find(key); found != kept.calls.end()) return found->second;
  if (kept.calls.size() >= kKeptCalls) kept.calls.clear();
  return kept.calls.emplace(std::move(key), prepare(kept, function, arguments, any_shape)).first->second;
}

std::vector<at::Tensor> inputs_of(const std::vector<TensorArgument>& arguments) {
  std::vector<at::Tensor> inputs;
  for (const TensorArgument& argument : arguments) {
    if (const auto* tensor = std::get_if<at::Tensor>(&argument)) inputs.push_back(*tensor);
    if (const auto* list = std::get_if<std::vector<at::Tensor>>(&argument))
      inputs.insert(inputs.end(), list->begin(), list->end());
  }
  return inputs;
}

// Runs the kernels with the caller's recording, which a program without a backward operator would turn off.
std::vector<at::Tensor> run(PreparedCall& call, const std::vector<at::Tensor>& inputs) {
  Frame& frame = *call.frame;
  for (size_t i = 0; i < inputs.size(); ++i) frame.value(call.inputs[i]) = {.tensor = inputs[i]};
  if (!inputs.empty()) frame.device = inputs[0].device();
  if (Status status = frame.program().check_kernels(frame.device); !status.ok()) throw KernelError(std::move(status));
  const bool wanted =
      at::GradMode::is_enabled() && std::ranges::any_of(inputs, [](const at::Tensor& tensor) { return tensor.requires_grad(); });
  for (Instruction& instruction : call.instructions) {
    instruction.records_gradient = wanted && instruction.differentiable;
    const at::AutoGradMode recording(instruction.records_gradient);
    instruction.kernel(OpContext(instruction, frame));
  }
  std::vector<at::Tensor> results;
  for (const int32_t index : call.results) results.push_back(frame.value(index).tensor);
  return results;
}

}  // namespace

Result<std::vector<at::Tensor>> call_on_tensors(const OpSchemas::Function& function,
                                                const std::vector<TensorArgument>& arguments) {
  const std::string& name = function.function->name;
  try {
    PreparedCall& call = find_or_prepare(function, arguments);
    struct End {  // also where a kernel throws: no tensor is held from call to call
      Frame& frame;
      ~End() { frame.end(); }
    } const end{*call.frame};
    return run(call, inputs_of(arguments));
  } catch (const KernelError& error) {
    return error.status().with_context("{}", name);
  } catch (const Error& error) {
    return error.status();
  } catch (const c10::Error& error) {
    return Status::invalid_argument("{}: {}", name, error.what_without_backtrace());
  }
}

}  // namespace argosy::engine
