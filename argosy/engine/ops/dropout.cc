// dropout, in both of Paddle's forms.
#include <ATen/ATen.h>

#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

bool upscales(const OpContext& op) {
  const auto& kind = op.attr<std::string>("dropout_implementation");
  if (kind != "upscale_in_train" && kind != "downgrade_in_infer") {
    op.fail("dropout_implementation '{}' is not known; expected upscale_in_train or downgrade_in_infer", kind);
  }
  return kind == "upscale_in_train";
}

int64_t seed_of(const OpContext& op) {
  if (op.has_input("Seed")) return op.tensor("Seed").item<int64_t>();
  return op.attr<bool>("fix_seed") ? op.attr<int32_t>("seed") : 0;
}

void run_dropout(const OpContext& op) {
  const Value& x = op.input("X");
  const double drop = op.attr<float>("dropout_prob"), keep = 1.0 - drop;
  if (op.attr<bool>("is_test")) return op.set_output("Out", upscales(op) ? x.tensor : x.tensor * keep, x.lod);
  const at::Tensor mask = at::empty_like(x.tensor, at::kByte).bernoulli_(keep, op.device_generator(seed_of(op)));
  const bool scaled = upscales(op) && keep > 0;
  op.set_output("Out", scaled ? x.tensor * (mask * (1.0 / keep)).to(x.tensor.scalar_type()) : x.tensor * mask, x.lod);
  op.set_output("Mask", mask);
}

Status infer_dropout(graph::ShapeContext& context) {
  const auto& x = context.input("X");
  const float drop = context.attribute<float>("dropout_prob");
  if (!(drop >= 0 && drop <= 1)) return Status::invalid_argument("dropout_prob is {}, expected 0 to 1", drop);
  context.set_output_like("Out", x);
  if (!context.attribute<bool>("is_test")) context.set_output("Mask", x.shape, graph::DType::uint8);
  return {};
}

ARGOSY_OP("dropout", run_dropout)
    .doc("Sets a random part of the values to zero while training.")
    .input("X", "any shape")
    .optional_input("Seed", "a seed for this run")
    .output("Out", "like X")
    .optional_output("Mask", "1 where a value was kept; not made in tests")
    .attr("dropout_prob", 0.5f, "the part that is dropped")
    .attr("is_test", false, "drop nothing")
    .attr("fix_seed", false, "drop the same values in every run, by `seed`")
    .attr("seed", 0, "used with fix_seed")
    .attr("dropout_implementation", std::string("downgrade_in_infer"),
          "downgrade_in_infer: a test multiplies by what is kept; upscale_in_train: training divides by it")
    .infer_shape(infer_dropout);

}  // namespace
}  // namespace argosy::engine
