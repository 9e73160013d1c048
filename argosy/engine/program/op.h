#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/engine/program/kernel.h"
#include "argosy/engine/program/value.h"
#include "argosy/graph/op_desc.h"
#include "argosy/graph/op_schema.h"

namespace argosy::engine {

class Frame;
struct Instruction;

// What a kernel throws for bad input; the executor turns it, and torch's exceptions, into a Status that names the operator.
class KernelError : public std::runtime_error {
 public:
  explicit KernelError(Status status) : std::runtime_error(status.message()), status_(std::move(status)) {}
  const Status& status() const { return status_; }

 private:
  Status status_;
};

// What a kernel sees of its operator: inputs, outputs and attributes by name. Confined to the running thread.
class OpContext {
 public:
  OpContext(const Instruction& instruction, Frame& frame) : instruction_(instruction), frame_(frame) {}

  bool has_input(std::string_view slot) const { return input_count(slot) > 0; }
  bool has_output(std::string_view slot) const { return output_count(slot) > 0; }
  size_t input_count(std::string_view slot) const;
  size_t output_count(std::string_view slot) const;

  // The value at an input. One that no operator or feed has set is an error that names the variable.
  const Value& input(std::string_view slot, size_t index = 0) const;
  const at::Tensor& tensor(std::string_view slot, size_t index = 0) const { return input(slot, index).tensor; }
  std::vector<at::Tensor> tensors(std::string_view slot) const;
  bool is_parameter(std::string_view slot, size_t index = 0) const;  // an input that outlives the run
  const std::string& input_name(std::string_view slot, size_t index = 0) const;
  // The sequence boundaries of an input. An input without LoD is an error that names the variable.
  const std::vector<int64_t>& offsets(std::string_view slot, size_t index = 0) const;

  // Sets an output; an output that the operator does not have is skipped. `lod` is handed on where sequences stay what they were.
  void set_output(std::string_view slot, at::Tensor tensor, LodPtr lod = nullptr, size_t index = 0) const;
  void set_value(std::string_view slot, Value value, size_t index = 0) const;
  // Writes into the variable's own storage: for outputs that are also inputs (states, parameters), which others share.
  void write_output(std::string_view slot, const at::Tensor& tensor, size_t index = 0) const;
  Value& output(std::string_view slot, size_t index = 0) const;  // REQUIRES: has_output(slot)
  bool is_read(std::string_view slot) const;  // false: nobody reads or fetches this output, so it need not be made

  template <typename T>
  const T& attr(std::string_view name) const {
    const T* value = desc().attribute<T>(name);
    if (value == nullptr) fail("attribute '{}' is missing or of another kind", name);
    return *value;
  }
  graph::DType dtype_attr(std::string_view name) const;

  // Something that a kernel keeps from step to step: made by `make` on the first call, one per thread and operator.
  template <typename T, typename Make>
  T& state(Make make) const {
    std::shared_ptr<void>& slot = state_slot();
    if (slot == nullptr) slot = std::shared_ptr<T>(make());
    return *static_cast<T*>(slot.get());
  }

  // True where gradients are wanted of what this operator computes.
  bool training() const;
  // The source of randomness: of the operator where `seed` or the program's seed is set, of the process otherwise.
  at::Generator generator(int64_t seed) const;  // for tensors on the CPU
  at::Generator device_generator(int64_t seed) const;  // for tensors on device()
  // Where this run computes, and the options of a tensor that is made there.
  const c10::Device& device() const;
  at::TensorOptions options(at::ScalarType type) const;
  // An input on the CPU: at once where it is there or was fed from there, else after what computes it.
  at::Tensor on_cpu(std::string_view slot, size_t index = 0) const;
  // The same for a check that changes nothing: it fails by fail(), and runs before every replay of a captured step.
  void check_on_cpu(std::string_view slot, size_t index, std::function<void(const at::Tensor&)> check) const;
  // Whether this step is to be captured (step_capture.h): what the CPU knows now holds for all of its replays.
  bool captures() const;
  void not_captured(const std::string& what) const;  // "reads 'x' on the CPU": this operator speaks against it
  bool bfloat16_matmul() const;  // see ExecutorOptions

  // Ends the run with "operator 'type' (inputs…): message".
  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw KernelError(Status(Code::invalid_argument, fmt::format(format, std::forward<Args>(args)...)));
  }

  // Runs the operators of the block that this operator has, once. An error in one of them ends the run.
  void run_body() const;

  const graph::OpDesc& desc() const;
  Frame& frame() const { return frame_; }
  const Instruction& instruction() const { return instruction_; }

 private:
  bool is_persistable_output(std::string_view slot, size_t index) const;  // REQUIRES: index < output_count(slot)
  std::shared_ptr<void>& state_slot() const;
  int64_t settled_seed(int64_t seed) const;  // 0: that of the process

  const Instruction& instruction_;
  Frame& frame_;
};

// Registers an operator: its schema with graph::OpSchemas and its kernel here, before main. Use through ARGOSY_OP:
//
//   ARGOSY_OP("relu", [](const OpContext& op) { op.set_output("Out", at::relu(op.tensor("X")), op.input("X").lod); })
//       .doc("max(x, 0)")
//       .input("X", "any shape")
//       .output("Out", "like X")
//       .infer_shape(graph::same_shape_as_x);
class OpRegistration {
 public:
  OpRegistration(std::string type, Kernel kernel);

  OpRegistration& doc(std::string text);
  OpRegistration& input(std::string name, std::string text);
  OpRegistration& optional_input(std::string name, std::string text);
  OpRegistration& input_list(std::string name, std::string text);
  OpRegistration& optional_input_list(std::string name, std::string text);
  OpRegistration& output(std::string name, std::string text);
  OpRegistration& optional_output(std::string name, std::string text);
  OpRegistration& output_list(std::string name, std::string text);
  OpRegistration& optional_output_list(std::string name, std::string text);
  OpRegistration& attr(std::string name, graph::Attribute otherwise, std::string text);
  OpRegistration& infer_shape(graph::ShapeRule rule);
  // The kernel differentiates nothing: it runs without recording, and its outputs carry no gradient.
  OpRegistration& no_gradient();
  // The kernel walks through memory: a program with it is refused on other devices.
  OpRegistration& cpu_only();
  // A function that adds the operator to a program; see graph/function_schema.h. After inputs, outputs and attributes.
  OpRegistration& function(graph::FunctionSchema function);

  const std::string& type() const { return type_; }

 private:
  graph::OpSchema* schema_;
  std::string type_;
};

#define ARGOSY_OP(...)                                                                   \
  static const ::argosy::engine::OpRegistration ARGOSY_CONCAT(argosy_op_, __COUNTER__) = \
      ::argosy::engine::OpRegistration(__VA_ARGS__)

}  // namespace argosy::engine
