// sequence_pool: one row out of each sequence, forward and backward in one pass over the rows.
#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "argosy/engine/program/device.h"
#include "argosy/engine/program/op.h"
#include "argosy/engine/program/row_adder.h"
#include "argosy/graph/function_call.h"

namespace argosy::engine {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

enum class Pooling : int64_t { sum, average, sqrt, max, first, last };

const std::map<std::string, Pooling, std::less<>> kPoolings = {{"SUM", Pooling::sum},     {"AVERAGE", Pooling::average},
                                                               {"SQRT", Pooling::sqrt},   {"MAX", Pooling::max},
                                                               {"FIRST", Pooling::first}, {"LAST", Pooling::last}};

double scale_of(Pooling pooling, int64_t length) {
  if (pooling == Pooling::average) return 1.0 / static_cast<double>(length);
  if (pooling == Pooling::sqrt) return 1.0 / std::sqrt(static_cast<double>(length));
  return 1.0;
}

// The rows of a sequence that reach the output: all of them, or one.
std::pair<int64_t, int64_t> rows_used(Pooling pooling, int64_t begin, int64_t end) {
  if (pooling == Pooling::first) return {begin, begin + 1};
  if (pooling == Pooling::last) return {end - 1, end};
  return {begin, end};
}

template <typename T>
void pool_max(const T* in, int64_t width, int64_t begin, int64_t end, T* out, int32_t* index) {
  for (int64_t k = 0; k < width; ++k) out[k] = in[begin * width + k], index[k] = static_cast<int32_t>(begin);
  for (int64_t row = begin + 1; row < end; ++row) {
    for (int64_t k = 0; k < width; ++k) {
      if (in[row * width + k] > out[k]) out[k] = in[row * width + k], index[k] = static_cast<int32_t>(row);
    }
  }
}

template <typename T>
void pool_sum(const T* in, int64_t width, std::pair<int64_t, int64_t> rows, T scale, T* out) {
  for (int64_t k = 0; k < width; ++k) out[k] = in[rows.first * width + k] * scale;
  for (int64_t row = rows.first + 1; row < rows.second; ++row) {
    for (int64_t k = 0; k < width; ++k) out[k] += in[row * width + k] * scale;
  }
}

// `index` receives the row of each maximum, -1 where the sequence is empty; it is defined for Pooling::max only.
at::Tensor pool_rows(const at::Tensor& x, const std::vector<int64_t>& offsets, Pooling pooling, double pad,
                     const at::Tensor& index) {
  const auto count = static_cast<int64_t>(offsets.size()) - 1;
  std::vector<int64_t> shape(x.sizes().begin(), x.sizes().end());
  shape[0] = count;
  at::Tensor out = at::empty(shape, x.options());
  const int64_t width = x.size(0) == 0 ? out.numel() / std::max<int64_t>(count, 1) : x.numel() / x.size(0);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "sequence_pool", [&] {
    const auto* in = x.const_data_ptr<scalar_t>();
    auto* target = out.mutable_data_ptr<scalar_t>();
    int32_t* maxima = index.defined() ? index.mutable_data_ptr<int32_t>() : nullptr;
    for (int64_t i = 0; i < count; ++i, target += width) {
      const int64_t begin = offsets[static_cast<size_t>(i)], end = offsets[static_cast<size_t>(i) + 1];
      if (begin == end) {
        std::fill_n(target, width, static_cast<scalar_t>(pad));
        if (maxima != nullptr) std::fill_n(maxima + i * width, width, -1);
      } else if (pooling == Pooling::max) {
        pool_max(in, width, begin, end, target, maxima + i * width);
      } else {
        pool_sum(in, width, rows_used(pooling, begin, end), static_cast<scalar_t>(scale_of(pooling, end - begin)), target);
      }
    }
  });
  return out;
}

template <typename T>
void spread(const T* grad, const std::vector<int64_t>& offsets, Pooling pooling, int64_t width, T* out) {
  for (size_t i = 0; i + 1 < offsets.size(); ++i, grad += width) {
    if (offsets[i] == offsets[i + 1]) continue;
    const auto [begin, end] = rows_used(pooling, offsets[i], offsets[i + 1]);
    const T scale = static_cast<T>(scale_of(pooling, offsets[i + 1] - offsets[i]));
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t k = 0; k < width; ++k) out[row * width + k] = grad[k] * scale;
    }
  }
}

template <typename T>
void scatter_maxima(const T* grad, const int32_t* index, int64_t count, int64_t width, T* out) {
  for (int64_t at = 0; at < count * width; ++at) {
    if (index[at] >= 0) out[index[at] * width + at % width] = grad[at];
  }
}

struct PoolRows : torch::autograd::Function<PoolRows> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const LodPtr& lod, Pooling pooling, double pad,
                            const std::optional<at::Tensor>& index) {
    context->saved_data["rows"] = x.sizes().vec();
    context->saved_data["offsets"] = lod->back();
    context->saved_data["pooling"] = static_cast<int64_t>(pooling);
    context->save_for_backward({index.value_or(at::Tensor())});
    return pool_rows(x, lod->back(), pooling, pad, index.value_or(at::Tensor()));
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto offsets = context->saved_data["offsets"].toIntVector();
    const auto pooling = static_cast<Pooling>(context->saved_data["pooling"].toInt());
    const at::Tensor index = context->get_saved_variables()[0];
    const at::Tensor grad = grads[0].contiguous();
    const bool partial = pooling == Pooling::max || pooling == Pooling::first || pooling == Pooling::last;
    const auto shape = context->saved_data["rows"].toIntVector();
    at::Tensor out = partial ? at::zeros(shape, grad.options()) : at::empty(shape, grad.options());
    const int64_t count = grad.size(0), width = grad.numel() / std::max<int64_t>(count, 1);
    AT_DISPATCH_FLOATING_TYPES(grad.scalar_type(), "sequence_pool", [&] {
      auto* target = out.mutable_data_ptr<scalar_t>();
      if (pooling == Pooling::max)
        scatter_maxima(grad.const_data_ptr<scalar_t>(), index.const_data_ptr<int32_t>(), count, width, target);
      else
        spread(grad.const_data_ptr<scalar_t>(), offsets, pooling, width, target);
    });
    return {out, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

// The lengths of sequences as numbers to divide by, [count, 1, …].
at::Tensor divisors(const std::vector<int64_t>& offsets, Pooling pooling, const at::Tensor& like) {
  std::vector<double> numbers;
  for (size_t i = 0; i + 1 < offsets.size(); ++i)
    numbers.push_back(1.0 / scale_of(pooling, std::max<int64_t>(offsets[i + 1] - offsets[i], 1)));
  std::vector<int64_t> shape(static_cast<size_t>(like.dim()), 1);
  shape[0] = static_cast<int64_t>(numbers.size());
  return at::tensor(numbers, at::kDouble).to(like.options()).reshape(shape);
}

// The row of each maximum, -1 for an empty sequence, by torch's functions: the first of those that are as large.
at::Tensor maxima_on_device(const at::Tensor& x, const std::vector<int64_t>& offsets, const at::Tensor& numbers) {
  std::vector<int64_t> shape = x.sizes().vec(), column(static_cast<size_t>(x.dim()), 1);
  shape[0] = static_cast<int64_t>(offsets.size()) - 1;
  column[0] = x.size(0);
  const at::Tensor spread = numbers.view(column).expand_as(x),
                   rows = at::arange(x.size(0), numbers.options()).view(column).expand_as(x);
  const at::Tensor top = at::zeros(shape, x.options()).scatter_reduce(0, spread, x, "amax", false);
  const at::Tensor at_top = at::where(x == top.index_select(0, numbers), rows, x.size(0));
  const at::Tensor first = at::full(shape, x.size(0), numbers.options()).scatter_reduce(0, spread, at_top, "amin");
  return at::where(first == x.size(0), -1, first).to(at::kInt);
}

// pool_rows() by torch's functions, which autograd differentiates. `index` as there.
at::Tensor pool_on_device(const at::Tensor& x, const std::vector<int64_t>& offsets, Pooling pooling, double pad,
                          const at::Tensor& index) {
  std::vector<int64_t> used, empty;  // the row that an output takes; what it takes where a sequence is empty is replaced
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    used.push_back(
        std::max<int64_t>(pooling == Pooling::last ? offsets[i + 1] - 1 : std::min(offsets[i], offsets.back() - 1), 0));
    empty.push_back(offsets[i] == offsets[i + 1]);
  }
  std::vector<int64_t> shape = x.sizes().vec(), column(static_cast<size_t>(x.dim()), 1);
  shape[0] = column[0] = static_cast<int64_t>(empty.size());
  if (x.size(0) == 0) return at::full(shape, pad, x.options().requires_grad(false));
  at::Tensor out;
  if (pooling == Pooling::first || pooling == Pooling::last) {
    out = x.index_select(0, at::tensor(used, at::kLong).to(x.device()));
  } else if (pooling == Pooling::max) {
    out = x.gather(0, index.to(at::kLong).clamp_min(0));
  } else {
    const at::Tensor numbers = sequence_numbers(offsets, x.device());
    out = numbers.defined() ? at::zeros(shape, x.options().requires_grad(false)).index_add(0, numbers, x) /
                                  divisors(offsets, pooling, x.detach())
                            : x.clone();
  }
  const bool any_empty = std::ranges::find(empty, 1) != empty.end();
  return any_empty ? out.masked_fill(at::tensor(empty, at::kLong).to(x.device()).to(at::kBool).view(column), pad) : out;
}

LodPtr without_last_level(const Lod& lod) {
  return lod.size() < 2 ? nullptr : std::make_shared<const Lod>(lod.begin(), lod.end() - 1);
}

void run_on_device(const OpContext& op, Pooling pooling, const at::Tensor& rows, double pad) {
  const Value& x = op.input("X");
  const std::vector<int64_t>& offsets = x.offsets();
  at::Tensor index;
  if (pooling == Pooling::max) {
    at::Tensor numbers = sequence_numbers(offsets, rows.device());
    if (!numbers.defined()) numbers = at::arange(rows.size(0), op.options(at::kLong));
    index = maxima_on_device(rows.detach(), offsets, numbers);
    op.set_output("MaxIndex", index);
  }
  op.set_output("Out", pool_on_device(rows, offsets, pooling, pad, index), without_last_level(*x.lod));
}

void run_sequence_pool(const OpContext& op) {
  const auto kind = kPoolings.find(op.attr<std::string>("pooltype"));
  if (kind == kPoolings.end()) op.fail("pooltype '{}' is not known", op.attr<std::string>("pooltype"));
  const Value& x = op.input("X");
  const auto& offsets = op.offsets("X");
  if (offsets.back() != x.tensor.size(0))
    op.fail("the sequences of '{}' end at row {}, but it has {} rows", op.input_name("X"), offsets.back(), x.tensor.size(0));
  const at::Tensor rows = x.tensor.contiguous();
  std::vector<int64_t> shape(rows.sizes().begin(), rows.sizes().end());
  shape[0] = static_cast<int64_t>(offsets.size()) - 1;
  const double pad = op.attr<float>("pad_value");
  if (!in_memory(rows)) return run_on_device(op, kind->second, rows, pad);
  const at::Tensor index = kind->second == Pooling::max ? at::empty(shape, at::kInt) : at::Tensor();
  at::Tensor out = op.training() ? PoolRows::apply(rows, x.lod, kind->second, pad, std::optional<at::Tensor>(index))
                                 : pool_rows(rows, offsets, kind->second, pad, index);
  op.set_output("Out", std::move(out), without_last_level(*x.lod));
  if (index.defined()) op.set_output("MaxIndex", index);
}

Status infer_sequence_pool(graph::ShapeContext& context) {
  const auto& x = context.input("X");
  const auto kind = context.attribute<std::string>("pooltype");
  if (!kPoolings.contains(kind)) {
    return Status::invalid_argument("pool type '{}' is not known; expected sum, average, sqrt, max, first or last", kind);
  }
  if (x.lod_level < 1) return Status::invalid_argument("'{}' is no sequence: declare it with lod_level=1", x.name);
  context.set_output("Out", x.shape, x.dtype, x.lod_level - 1);
  if (kind == "MAX") context.set_output("MaxIndex", x.shape, x.dtype);
  return {};
}

// SUM, however it was written.
void settle_kind(graph::FunctionCall& call) {
  std::string kind = call.value<std::string>("pool_type", "");
  std::ranges::transform(kind, kind.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  call.op.attributes["pooltype"] = kind;
}

graph::FunctionSchema pool_of_kind(const std::string& name, const char* kind) {
  return {.signature = name + "(input)",
          .targets = {{"input", "X"}},
          .example = "x = fluid.data('x', [None, 4], lod_level=1)\ny = fluid.layers." + name + "(x)",
          .prepare = [kind](graph::FunctionCall& call) { call.op.attributes["pooltype"] = std::string(kind); }};
}

ARGOSY_OP("sequence_pool", run_sequence_pool)
    .doc("One row per sequence: sum, average, sum over the root of the length, maximum, first or last row.")
    .input("X", "sequences; the innermost level is pooled")
    .output("Out", "one row per sequence")
    .optional_output("MaxIndex", "the row of each maximum; MAX only")
    .attr("pooltype", std::string("AVERAGE"), "SUM | AVERAGE | SQRT | MAX | FIRST | LAST")
    .attr("is_test", false, "no effect: nothing is kept where no gradient is wanted")
    .attr("pad_value", 0.0f, "what an empty sequence gives")
    .infer_shape(infer_sequence_pool)
    .function({.signature = "sequence_pool(input, pool_type, is_test=False, pad_value=0.0)",
               .targets = {{"input", "X"}, {"pool_type", "pooltype"}},
               .stops = {"MaxIndex?pooltype=MAX"},
               .options = "SequencePoolOptions",
               .example = "x = fluid.data('x', [None, 4], lod_level=1)\ny = fluid.layers.sequence_pool(x, 'sum')",
               .prepare = settle_kind})
    .function(pool_of_kind("sequence_first_step", "FIRST"))
    .function(pool_of_kind("sequence_last_step", "LAST"));

}  // namespace
}  // namespace argosy::engine
