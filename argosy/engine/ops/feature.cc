// Operators on features of click-through models: show and click counts, hashes.
#define XXH_INLINE_ALL
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <xxhash.h>

#include "argosy/engine/ops/sequence_rows.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::ShapeContext;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The first two columns are counts of shows and clicks. They are not trained: what the backward pass puts in their place are
// the counts of the sample, which a server adds up.
struct ShowAndClick : torch::autograd::Function<ShowAndClick> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& counts, bool use_cvm) {
    context->save_for_backward({counts});
    context->saved_data["use_cvm"] = use_cvm;
    if (!use_cvm) return x.narrow(1, 2, x.size(1) - 2).clone();
    at::Tensor out = x.clone();
    const at::Tensor shows = at::log(x.select(1, 0) + 1);
    out.select(1, 0).copy_(shows);
    out.select(1, 1).copy_(at::log(x.select(1, 1) + 1) - shows);
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const at::Tensor counts = context->get_saved_variables()[0];
    const bool use_cvm = context->saved_data["use_cvm"].toBool();
    const at::Tensor rest = use_cvm ? grads[0].narrow(1, 2, grads[0].size(1) - 2) : grads[0];
    return {at::cat({counts, rest}, 1), at::Tensor(), at::Tensor()};
  }
};

// The counts of each row: of its own, or of the sequence that it is in.
at::Tensor counts_by_row(const OpContext& op) {
  const Value& x = op.input("X");
  const at::Tensor& counts = op.tensor("CVM");
  const bool sequences = x.lod != nullptr && !x.lod->empty();
  const int64_t samples = sequences ? static_cast<int64_t>(checked_offsets(op, "X").size()) - 1 : x.tensor.size(0);
  if (counts.dim() != 2 || counts.size(1) != 2 || counts.size(0) != samples) {
    op.fail("'{}' has shape {}, expected [{}, 2]: shows and clicks", op.input_name("CVM"),
            graph::shape_to_string(counts.sizes().vec()), samples);
  }
  if (!sequences) return counts;
  std::vector<int64_t> rows;
  const auto& offsets = x.offsets();
  for (size_t i = 0; i + 1 < offsets.size(); ++i)
    rows.insert(rows.end(), static_cast<size_t>(offsets[i + 1] - offsets[i]), static_cast<int64_t>(i));
  return take_rows(counts, rows);
}

ARGOSY_OP("cvm",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            if (x.tensor.dim() != 2 || x.tensor.size(1) < 3)
              op.fail("'{}' must have shows, clicks and at least one more value a row", op.input_name("X"));
            op.set_output(
                "Y",
                ShowAndClick::apply(x.tensor, counts_by_row(op).to(x.tensor.scalar_type()).detach(), op.attr<bool>("use_cvm")),
                x.lod);
          })
    .doc(
        "Turns the first two values of a row, shows and clicks, into log(shows + 1) and the log of the click rate, or drops "
        "them.")
    .input("X", "[rows, 2 + width]")
    .input("CVM", "shows and clicks of each sample, which the gradient of X carries")
    .output("Y", "like X, or two columns less")
    .attr("use_cvm", true, "keep the two columns")
    .infer_shape([](ShapeContext& context) {
      const auto& x = context.input("X");
      if (x.shape.size() != 2)
        return Status::invalid_argument("'{}' has shape {}, expected [rows, width]", x.name, graph::shape_to_string(x.shape));
      context.set_output("Y", {x.shape[0], context.attribute<bool>("use_cvm") ? x.shape[1] : x.shape[1] - 2}, x.dtype,
                         x.lod_level);
      return Status();
    });

template <typename T>
void hash_rows(const at::Tensor& x, int64_t hashes, uint64_t mod_by, at::Tensor& out) {
  const int64_t width = x.size(-1), rows = x.numel() / std::max<int64_t>(width, 1);
  const T* in = x.const_data_ptr<T>();
  T* target = out.mutable_data_ptr<T>();
  for (int64_t row = 0; row < rows; ++row, in += width) {
    for (int64_t seed = 0; seed < hashes; ++seed) {
      *target++ = static_cast<T>(XXH64(in, sizeof(T) * static_cast<size_t>(width), static_cast<uint64_t>(seed)) % mod_by);
    }
  }
}

ARGOSY_OP("hash",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            const int64_t hashes = op.attr<int32_t>("num_hash"), mod_by = op.attr<int64_t>("mod_by");
            if (hashes < 1 || mod_by < 1) op.fail("num_hash is {} and mod_by {}; expected at least 1", hashes, mod_by);
            std::vector<int64_t> shape(x.tensor.sizes().begin(), x.tensor.sizes().end() - 1);
            shape.insert(shape.end(), {hashes, 1});
            at::Tensor out = at::empty(shape, x.tensor.options());
            const at::Tensor rows = x.tensor.contiguous();
            if (x.tensor.scalar_type() == at::kLong)
              hash_rows<int64_t>(rows, hashes, static_cast<uint64_t>(mod_by), out);
            else if (x.tensor.scalar_type() == at::kInt)
              hash_rows<int32_t>(rows, hashes, static_cast<uint64_t>(mod_by), out);
            else
              op.fail("'{}' holds {}, expected int32 or int64", op.input_name("X"), c10::toString(x.tensor.scalar_type()));
            op.set_output("Out", std::move(out), x.lod);
          })
    .doc("XXH64 of each row's bytes, with seeds 0, 1, …, each modulo mod_by.")
    .input("X", "ids, [..., width]")
    .output("Out", "[..., num_hash, 1]")
    .attr("num_hash", 1, "how many hashes")
    .attr("mod_by", int64_t{100000}, "they are below this")
    .infer_shape([](ShapeContext& context) {
      const auto& x = context.input("X");
      if (x.shape.size() < 2)
        return Status::invalid_argument("'{}' has shape {}, expected at least 2 dimensions", x.name,
                                        graph::shape_to_string(x.shape));
      std::vector<int64_t> shape(x.shape.begin(), x.shape.end() - 1);
      shape.insert(shape.end(), {context.attribute<int32_t>("num_hash"), 1});
      context.set_output("Out", std::move(shape), x.dtype, x.lod_level);
      return Status();
    })
    .no_gradient()
    .cpu_only()
    .function({.signature = "hash(input, hash_size, num_hash=1, name=None)",
               .targets = {{"input", "X"}, {"hash_size", "mod_by"}},
               .stop_gradient = true});

}  // namespace
}  // namespace argosy::engine
