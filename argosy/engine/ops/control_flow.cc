// Operators that run a block of their own, and lists of tensors, which loops fill. Gradients are autograd's: it sees the
// operators that ran.
#include <ATen/ATen.h>

#include <cstdio>
#include <sstream>

#include "argosy/engine/program/frame.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::BlockRef;
using graph::ShapeContext;

constexpr int64_t kLongestArray = int64_t{1} << 24;

Status nothing_to_infer(ShapeContext&) { return {}; }

bool holds(const OpContext& op, std::string_view slot) {
  const at::Tensor& condition = op.tensor(slot);
  if (condition.numel() != 1) op.fail("condition '{}' has {} elements, expected 1", op.input_name(slot), condition.numel());
  return condition.item<bool>();
}

ARGOSY_OP("conditional_block",
          [](const OpContext& op) {
            if (!op.attr<bool>("is_scalar_condition")) op.fail("only one bool as a condition is known (is_scalar_condition)");
            if (holds(op, "Cond")) op.run_body();
          })
    .doc("Runs a block if a condition holds.")
    .input("Cond", "one bool")
    .optional_input_list("Input", "what the block reads of the blocks around it")
    .optional_output_list("Out", "what it sets there")
    .optional_output("Scope", "not used")
    .attr("sub_block", BlockRef{}, "the block")
    .attr("is_scalar_condition", true, "the condition is one bool")
    .infer_shape(nothing_to_infer);

ARGOSY_OP("while",
          [](const OpContext& op) {
            while (holds(op, "Condition")) op.run_body();
          })
    .doc("Runs a block as long as a condition holds, which the block sets anew.")
    .input("Condition", "one bool")
    .optional_input_list("X", "what the block reads of the blocks around it")
    .optional_output_list("Out", "what it sets there")
    .optional_output("StepScopes", "not used")
    .attr("sub_block", BlockRef{}, "the block")
    .attr("is_test", false, "not used: autograd records where a gradient is wanted")
    .infer_shape(nothing_to_infer);

ARGOSY_OP("select_input",
          [](const OpContext& op) {
            const int64_t chosen = op.tensor("Mask").item<int64_t>();
            if (chosen < 0 || chosen >= static_cast<int64_t>(op.input_count("X")))
              op.fail("mask '{}' is {}, but there are {} inputs", op.input_name("Mask"), chosen, op.input_count("X"));
            op.set_value("Out", op.input("X", static_cast<size_t>(chosen)));
          })
    .doc("One of several values, which alone has to be there.")
    .input_list("X", "the values")
    .input("Mask", "one integer: which")
    .output("Out", "that one")
    .infer_shape([](ShapeContext& context) {
      const graph::VarDesc& first = context.input("X");
      std::vector<int64_t> shape = first.shape;
      for (size_t i = 1; i < context.input_count("X"); ++i) {
        const std::vector<int64_t>& other = context.input("X", i).shape;
        if (other.size() != shape.size()) return Status();  // known when it runs
        for (size_t k = 0; k < shape.size(); ++k) shape[k] = shape[k] == other[k] ? shape[k] : -1;
      }
      context.set_output("Out", shape, first.dtype, first.lod_level);
      return Status();
    });

// The position that an array is read or written at.
size_t position(const OpContext& op) {
  const at::Tensor& index = op.tensor("I");
  if (index.numel() != 1) op.fail("index '{}' has {} elements, expected 1", op.input_name("I"), index.numel());
  const auto at = index.item<int64_t>();
  if (at < 0 || at >= kLongestArray) op.fail("index '{}' is {}, expected 0 to {}", op.input_name("I"), at, kLongestArray - 1);
  return static_cast<size_t>(at);
}

ARGOSY_OP("write_to_array",
          [](const OpContext& op) {
            const size_t at = position(op);
            Value& out = op.output("Out");
            auto array = std::make_shared<std::vector<Value>>();
            if (out.array != nullptr) *array = *out.array;
            if (array->size() <= at) array->resize(at + 1);
            (*array)[at] = op.input("X");
            op.set_value("Out", Value{.array = std::move(array)});
          })
    .doc("Puts a tensor into a list, which grows where it must.")
    .input("X", "the tensor")
    .input("I", "one integer: where")
    .output("Out", "the list")
    .infer_shape([](ShapeContext& context) {
      const graph::VarDesc& x = context.input("X");
      context.set_output("Out", x.shape, x.dtype, x.lod_level);
      return Status();
    });

const std::vector<Value>& array_of(const OpContext& op) {
  const Value& value = op.input("X");
  if (value.array == nullptr) op.fail("variable '{}' is no list of tensors (create_array, array_write)", op.input_name("X"));
  return *value.array;
}

ARGOSY_OP("read_from_array",
          [](const OpContext& op) {
            const std::vector<Value>& array = array_of(op);
            const size_t at = position(op);
            if (at >= array.size() || !array[at].defined())
              op.fail("list '{}' has no tensor at {}; it has {} places", op.input_name("X"), at, array.size());
            op.set_value("Out", array[at]);
          })
    .doc("A tensor of a list.")
    .input("X", "the list")
    .input("I", "one integer: which")
    .output("Out", "that one")
    .infer_shape([](ShapeContext& context) {
      const graph::VarDesc& x = context.input("X");
      context.set_output("Out", x.shape, x.dtype, x.lod_level);
      return Status();
    });

ARGOSY_OP("lod_array_length",
          [](const OpContext& op) {
            op.set_output("Out", at::full({1}, static_cast<int64_t>(array_of(op).size()), op.options(at::kLong)));
          })
    .doc("How many places a list of tensors has.")
    .input("X", "the list")
    .output("Out", "one int64")
    .no_gradient()
    .infer_shape([](ShapeContext& context) {
      context.set_output("Out", {1}, graph::DType::int64);
      return Status();
    });

// What a tensor holds, the first `most` numbers of it; all of them where that is negative.
std::string contents(const at::Tensor& tensor, int64_t most) {
  std::ostringstream text;
  const at::Tensor flat = tensor.detach().flatten().cpu().to(at::kDouble);
  const int64_t count = most < 0 ? flat.numel() : std::min(most, flat.numel());
  for (int64_t i = 0; i < count; ++i) text << (i > 0 ? " " : "") << flat[i].item<double>();
  return text.str();
}

std::string description(const OpContext& op) {
  const Value& value = op.input("In");
  std::string text = op.attr<std::string>("message");
  if (op.attr<bool>("print_tensor_name")) text += fmt::format("\nVariable: {}", op.input_name("In"));
  if (op.attr<bool>("print_tensor_lod"))
    text += fmt::format("\n  - lod: {}", value.lod == nullptr ? "{}" : fmt::format("{} levels", value.lod->size()));
  if (op.attr<bool>("print_tensor_shape"))
    text += fmt::format("\n  - shape: {}", graph::shape_to_string(value.tensor.sizes().vec()));
  if (op.attr<bool>("print_tensor_type")) text += fmt::format("\n  - dtype: {}", graph::dtype_name(dtype_of(value.tensor)));
  return text + fmt::format("\n  - data: [{}]\n", contents(value.tensor, op.attr<int32_t>("summarize")));
}

ARGOSY_OP("print",
          [](const OpContext& op) {
            int64_t& printed = op.state<int64_t>([] { return new int64_t(0); });
            const int32_t most = op.attr<int32_t>("first_n");
            if (op.attr<std::string>("print_phase") != "BACKWARD" && (most < 0 || printed < most)) {
              ++printed;
              const std::string text = description(op);
              std::fwrite(text.data(), 1, text.size(), stdout);
              std::fflush(stdout);
            }
            op.set_value("Out", op.input("In"));
          })
    .doc("Prints a tensor on standard output when it is computed, and hands it on.")
    .input("In", "the tensor")
    .output("Out", "the same")
    .attr("first_n", int32_t{-1}, "how often, at most; -1: always")
    .attr("message", std::string(), "printed before it")
    .attr("summarize", int32_t{20}, "how many numbers; -1: all")
    .attr("print_tensor_name", true, "with its name")
    .attr("print_tensor_type", true, "with its type")
    .attr("print_tensor_shape", true, "with its shape")
    .attr("print_tensor_lod", true, "with its sequences")
    .attr("print_phase", std::string("FORWARD"), "FORWARD, BACKWARD or BOTH; gradients are not printed")
    .infer_shape([](ShapeContext& context) {
      context.set_output_like("Out", context.input("In"));
      return Status();
    });

}  // namespace
}  // namespace argosy::engine
