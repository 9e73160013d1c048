// Between sequences of any length and tensors of one length; windows over sequences; softmax within each.
#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "argosy/engine/ops/sequence_rows.h"
#include "argosy/engine/program/device.h"
#include "argosy/engine/program/op.h"
#include "argosy/engine/program/row_adder.h"
#include "argosy/graph/function_call.h"

namespace argosy::engine {
namespace {

using graph::DType;
using graph::ShapeContext;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Offsets = std::vector<int64_t>;

std::vector<int64_t> shape_after(const at::Tensor& x, int64_t from, std::vector<int64_t> front) {
  for (int64_t i = from; i < x.dim(); ++i) front.push_back(x.size(i));
  return front;
}

ARGOSY_OP("sequence_pad",
          [](const OpContext& op) {
            const at::Tensor& x = op.tensor("X");
            const Offsets& offsets = checked_offsets(op, "X");
            const auto count = static_cast<int64_t>(offsets.size()) - 1;
            int64_t longest = 0;
            std::vector<int64_t> lengths;
            for (size_t i = 1; i < offsets.size(); ++i)
              longest = std::max(longest, lengths.emplace_back(offsets[i] - offsets[i - 1]));
            const int64_t asked = op.attr<int32_t>("padded_length"), padded = asked < 0 ? longest : asked;
            if (padded < longest)
              op.fail("a sequence of '{}' has {} rows, more than padded_length {}", op.input_name("X"), longest, padded);
            std::vector<int64_t> rows;
            rows.reserve(static_cast<size_t>(count * padded));
            for (int64_t i = 0; i < count; ++i) {
              const int64_t begin = offsets[static_cast<size_t>(i)], length = lengths[static_cast<size_t>(i)];
              for (int64_t k = 0; k < padded; ++k) rows.push_back(k < length ? begin + k : kNoRow);
            }
            const at::Tensor filling = op.tensor("PadValue").expand(x.sizes().slice(1)).to(x.scalar_type());
            op.set_output("Out", take_rows_or(x, rows, filling).reshape(shape_after(x, 1, {count, padded})));
            op.set_output("Length", at::tensor(lengths, at::kLong).to(op.device()));
          })
    .doc("Sequences side by side, filled up to one length.")
    .input("X", "sequences")
    .input("PadValue", "one number, or a row")
    .output("Out", "[sequences, length, ...]")
    .output("Length", "how long each was")
    .attr("padded_length", -1, "the length; -1: that of the longest")
    .infer_shape([](ShapeContext& context) {
      const auto& x = context.input("X");
      if (x.shape.size() < 2)
        return Status::invalid_argument("'{}' has shape {}, expected at least 2 dimensions", x.name,
                                        graph::shape_to_string(x.shape));
      if (x.lod_level < 1) return Status::invalid_argument("'{}' is no sequence: declare it with lod_level=1", x.name);
      const int32_t length = context.attribute<int32_t>("padded_length");
      std::vector<int64_t> shape = {-1, length < 0 ? 1 : length};  // 1 where it is not known, as in Paddle
      shape.insert(shape.end(), x.shape.begin() + 1, x.shape.end());
      context.set_output("Out", std::move(shape), x.dtype);
      context.set_output("Length", {-1}, DType::int64);
      return Status();
    })
    .function({.signature = "sequence_pad(x, pad_value, maxlen=None, name=None)",
               .targets = {{"pad_value", "PadValue"}, {"maxlen", "padded_length"}},
               .returns = {"Out", "Length"},
               .stops = {"Length"},
               .result = "PaddedSequences",
               .example =
                   "x = fluid.data('x', [None, 1], lod_level=1)\nfilling = fluid.layers.fill_constant([1], 'float32', 0.0)\nout, "
                   "length = fluid.layers.sequence_pad(x, filling)",
               .prepare = [](graph::FunctionCall& call) {
                 graph::Variable(call.variable("pad_value")).set_stop_gradient(true);
               }});

ARGOSY_OP("sequence_unpad",
          [](const OpContext& op) {
            const at::Tensor& x = op.tensor("X");
            const at::Tensor lengths = op.on_cpu("Length").to(at::kLong).flatten().contiguous();
            if (x.dim() < 2 || lengths.numel() != x.size(0)) op.fail("{} lengths for {} sequences", lengths.numel(), x.size(0));
            std::vector<int64_t> rows;
            Offsets offsets = {0};
            for (int64_t i = 0; i < x.size(0); ++i) {
              const int64_t length = lengths.const_data_ptr<int64_t>()[i];
              if (length < 0 || length > x.size(1))
                op.fail("'{}': length {} of sequence {} is outside 0 to {}", op.input_name("Length"), length, i, x.size(1));
              for (int64_t k = 0; k < length; ++k) rows.push_back(i * x.size(1) + k);
              offsets.push_back(static_cast<int64_t>(rows.size()));
            }
            op.set_output("Out", take_rows(x.reshape(shape_after(x, 2, {x.size(0) * x.size(1)})), rows),
                          one_level(std::move(offsets)));
          })
    .doc("Sequences from rows that were filled up.")
    .input("X", "[sequences, length, ...]")
    .input("Length", "how much of each counts")
    .output("Out", "sequences")
    .infer_shape([](ShapeContext& context) {
      const auto& x = context.input("X");
      if (x.shape.size() < 2)
        return Status::invalid_argument("'{}' has shape {}, expected at least 2 dimensions", x.name,
                                        graph::shape_to_string(x.shape));
      std::vector<int64_t> shape = {-1};
      shape.insert(shape.end(), x.shape.begin() + 2, x.shape.end());
      if (shape.size() == 1) shape.push_back(1);
      context.set_output("Out", std::move(shape), x.dtype, 1);
      return Status();
    })
    .function({.signature = "sequence_unpad(x, length, name=None)",
               .example = "x = fluid.data('x', [None, 8, 4])\nlength = fluid.data('length', [None], 'int64')\ny = "
                          "fluid.layers.sequence_unpad(x, length)"});

ARGOSY_OP("sequence_mask",
          [](const OpContext& op) {
            const at::Tensor& x = op.tensor("X");
            int64_t length =
                op.has_input("MaxLenTensor") ? op.tensor("MaxLenTensor").item<int64_t>() : op.attr<int32_t>("maxlen");
            if (length < 0) length = x.numel() == 0 ? 0 : x.max().item<int64_t>();
            op.set_output(
                "Y", (at::arange(length, op.options(at::kLong)) < x.unsqueeze(-1)).to(scalar_type(op.dtype_attr("out_dtype"))));
          })
    .doc("For each length n: n ones, then zeros.")
    .input("X", "lengths, any shape")
    .optional_input("MaxLenTensor", "instead of maxlen")
    .output("Y", "[..., maxlen]")
    .attr("maxlen", -1, "-1: the largest of X")
    .attr("out_dtype", static_cast<int32_t>(DType::int64), "the type of the ones")
    .infer_shape([](ShapeContext& context) {
      std::vector<int64_t> shape = context.input("X").shape;
      const int32_t length = context.attribute<int32_t>("maxlen");
      shape.push_back(length > 0 && !context.has_input("MaxLenTensor") ? length : -1);
      context.set_output("Y", std::move(shape), context.dtype_attribute("out_dtype", DType::int64));
      return Status();
    })
    .no_gradient()
    .function({.signature = "sequence_mask(x, maxlen=None, dtype='int64', name=None)",
               .targets = {{"maxlen", "maxlen|MaxLenTensor"}, {"dtype", "out_dtype"}},
               .example = "x = fluid.data('x', [None], 'int64')\ny = fluid.layers.sequence_mask(x, maxlen=8)",
               .stop_gradient = true});

// y = softmax of each sequence of a column.
struct SoftmaxWithin : torch::autograd::Function<SoftmaxWithin> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const LodPtr& lod) {
    at::Tensor out = at::empty_like(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "sequence_softmax", [&] {
      const auto* in = x.const_data_ptr<scalar_t>();
      auto* target = out.mutable_data_ptr<scalar_t>();
      const Offsets& offsets = lod->back();
      for (size_t i = 0; i + 1 < offsets.size(); ++i) {
        if (offsets[i] == offsets[i + 1]) continue;
        const scalar_t top = *std::max_element(in + offsets[i], in + offsets[i + 1]);
        scalar_t sum = 0;
        for (int64_t k = offsets[i]; k < offsets[i + 1]; ++k) sum += target[k] = std::exp(in[k] - top);
        for (int64_t k = offsets[i]; k < offsets[i + 1]; ++k) target[k] /= sum;
      }
    });
    context->saved_data["offsets"] = lod->back();
    context->save_for_backward({out});
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const at::Tensor y = context->get_saved_variables()[0], grad = grads[0].contiguous();
    const Offsets offsets = context->saved_data["offsets"].toIntVector();
    at::Tensor out = at::empty_like(y);
    AT_DISPATCH_FLOATING_TYPES(y.scalar_type(), "sequence_softmax", [&] {
      const auto *value = y.const_data_ptr<scalar_t>(), *given = grad.const_data_ptr<scalar_t>();
      auto* target = out.mutable_data_ptr<scalar_t>();
      for (size_t i = 0; i + 1 < offsets.size(); ++i) {
        scalar_t sum = 0;
        for (int64_t k = offsets[i]; k < offsets[i + 1]; ++k) sum += value[k] * given[k];
        for (int64_t k = offsets[i]; k < offsets[i + 1]; ++k) target[k] = value[k] * (given[k] - sum);
      }
    });
    return {out, at::Tensor()};
  }
};

// The same by torch's functions, which autograd differentiates.
at::Tensor softmax_on_device(const at::Tensor& x, const Offsets& offsets) {
  const at::Tensor numbers = sequence_numbers(offsets, x.device()), flat = x.flatten();
  if (!numbers.defined()) return at::exp(x - x);
  const auto count = static_cast<int64_t>(offsets.size()) - 1;
  const at::Tensor top =
      at::zeros({count}, x.options().requires_grad(false)).scatter_reduce(0, numbers, flat.detach(), "amax", false);
  const at::Tensor raised = at::exp(flat - top.index_select(0, numbers));
  const at::Tensor sums = at::zeros({count}, x.options().requires_grad(false)).index_add(0, numbers, raised);
  return (raised / sums.index_select(0, numbers)).reshape(x.sizes());
}

ARGOSY_OP("sequence_softmax",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            checked_offsets(op, "X");
            if (x.tensor.numel() != x.tensor.size(0))
              op.fail("'{}' has shape {}, expected one value a row", op.input_name("X"),
                      graph::shape_to_string(x.tensor.sizes().vec()));
            op.set_output("Out",
                          in_memory(x.tensor) ? SoftmaxWithin::apply(x.tensor.contiguous(), x.lod)
                                              : softmax_on_device(x.tensor, x.lod->back()),
                          x.lod);
          })
    .doc("softmax over the values of each sequence.")
    .input("X", "sequences of rows with one value")
    .output("Out", "like X")
    .infer_shape(graph::same_shape_as_x)
    .function({.signature = "sequence_softmax(input, use_cudnn=False, name=None)",
               .targets = {{"input", "X"}, {"use_cudnn", "-"}},
               .example = "x = fluid.data('x', [None, 1], lod_level=1)\ny = fluid.layers.sequence_softmax(x)"});

// For each row the rows `start` to `start + length` from it, kNoRow where they are outside its sequence.
std::vector<int64_t> windows(const Offsets& offsets, int64_t start, int64_t length) {
  std::vector<int64_t> rows;
  rows.reserve(static_cast<size_t>(offsets.back() * length));
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    for (int64_t row = offsets[i]; row < offsets[i + 1]; ++row) {
      for (int64_t k = row + start; k < row + start + length; ++k)
        rows.push_back(k >= offsets[i] && k < offsets[i + 1] ? k : kNoRow);
    }
  }
  return rows;
}

ARGOSY_OP("sequence_conv",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            if (op.attr<int32_t>("contextStride") != 1 || op.attr<bool>("paddingTrainable"))
              op.fail("only contextStride 1 without trained padding is supported");
            const int64_t length = op.attr<int32_t>("contextLength");
            const std::vector<int64_t> rows = windows(checked_offsets(op, "X"), op.attr<int32_t>("contextStart"), length);
            const at::Tensor seen =
                take_rows_or(x.tensor, rows, at::zeros({x.tensor.size(1)}, x.tensor.options().requires_grad(false)));
            op.set_output("Out", at::mm(seen.reshape({x.tensor.size(0), length * x.tensor.size(1)}), op.tensor("Filter")), x.lod);
          })
    .doc("Each row with its neighbours in the sequence, zeros beyond its ends, times a matrix.")
    .input("X", "sequences, [rows, width]")
    .input("Filter", "[contextLength * width, filters]")
    .optional_input("PaddingData", "not supported")
    .output("Out", "sequences, [rows, filters]")
    .attr("contextLength", 3, "how many rows are seen")
    .attr("contextStart", 0, "the first of them, counted from the row")
    .attr("contextStride", 1, "1")
    .attr("paddingTrainable", false, "not supported")
    .infer_shape([](ShapeContext& context) {
      const auto &x = context.input("X"), &filter = context.input("Filter");
      if (x.shape.size() != 2 || filter.shape.size() != 2 ||
          filter.shape[0] != context.attribute<int32_t>("contextLength") * x.shape[1]) {
        return Status::invalid_argument("'{}' {} and '{}' {} do not fit for {} rows", x.name, graph::shape_to_string(x.shape),
                                        filter.name, graph::shape_to_string(filter.shape),
                                        context.attribute<int32_t>("contextLength"));
      }
      context.set_output("Out", {x.shape[0], filter.shape[1]}, x.dtype, x.lod_level);
      return Status();
    });

ARGOSY_OP("sequence_enumerate",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            const int64_t length = op.attr<int32_t>("win_size");
            const std::vector<int64_t> rows = windows(checked_offsets(op, "X"), 0, length);
            const at::Tensor filling = at::full({}, op.attr<int32_t>("pad_value"), x.tensor.options());
            op.set_output("Out", take_rows_or(x.tensor.flatten(), rows, filling).reshape({x.tensor.size(0), length}), x.lod);
          })
    .doc("For each id the ids that follow it, so many that there are win_size.")
    .input("X", "sequences of ids, [rows, 1]")
    .output("Out", "sequences, [rows, win_size]")
    .attr("win_size", 2, "how many ids")
    .attr("pad_value", 0, "what stands beyond the end")
    .infer_shape([](ShapeContext& context) {
      const auto& x = context.input("X");
      if (x.shape.size() != 2 || x.shape[1] != 1 || context.attribute<int32_t>("win_size") < 1) {
        return Status::invalid_argument("'{}' has shape {}, expected [rows, 1], and win_size at least 1", x.name,
                                        graph::shape_to_string(x.shape));
      }
      context.set_output("Out", {x.shape[0], context.attribute<int32_t>("win_size")}, x.dtype, x.lod_level);
      return Status();
    })
    .no_gradient()
    .function(
        {.signature = "sequence_enumerate(input, win_size, pad_value=0, name=None)",
         .targets = {{"input", "X"}},
         .example = "x = fluid.data('x', [None, 1], 'int64', lod_level=1)\ny = fluid.layers.sequence_enumerate(x, win_size=2)",
         .stop_gradient = true});

}  // namespace
}  // namespace argosy::engine
