// Truth values: logic on them, tests of elements, and choices by them.
#include <ATen/ATen.h>

#include "argosy/engine/ops/arguments.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::DType;
using graph::ShapeContext;

template <at::Tensor (*compute)(const at::Tensor&, const at::Tensor&)>
void combine(const OpContext& op) {
  op.set_output("Out", compute(op.tensor("X"), op.tensor("Y")), op.input("X").lod);
}

at::Tensor both(const at::Tensor& x, const at::Tensor& y) { return at::logical_and(x, y); }
at::Tensor either(const at::Tensor& x, const at::Tensor& y) { return at::logical_or(x, y); }
at::Tensor one_of(const at::Tensor& x, const at::Tensor& y) { return at::logical_xor(x, y); }

OpRegistration described_logical(OpRegistration op, const char* doc) {
  return op.doc(doc)
      .input("X", "any shape")
      .input("Y", "like X")
      .output("Out", "like X, bool")
      .infer_shape([](ShapeContext& context) -> Status {
        const auto& x = context.input("X");
        ASSIGN_OR_RETURN(auto shape, graph::broadcast_shape(x.shape, context.input("Y").shape, -1));
        context.set_output("Out", std::move(shape), DType::boolean, x.lod_level);
        return {};
      })
      .no_gradient()
      .function({.signature = op.type() + "(x, y, out=None, name=None)"});
}

const OpRegistration kAnd = described_logical({"logical_and", &combine<both>}, "x and y");
const OpRegistration kOr = described_logical({"logical_or", &combine<either>}, "x or y");
const OpRegistration kXor = described_logical({"logical_xor", &combine<one_of>}, "x or y, not both");

template <at::Tensor (*compute)(const at::Tensor&)>
void test(const OpContext& op) {
  op.set_output("Out", compute(op.tensor("X")), op.input("X").lod);
}

at::Tensor is_false(const at::Tensor& x) { return at::logical_not(x); }
at::Tensor is_finite(const at::Tensor& x) { return at::isfinite(x); }
at::Tensor is_infinite(const at::Tensor& x) { return at::isinf(x); }
at::Tensor is_nan(const at::Tensor& x) { return at::isnan(x); }

OpRegistration tested(OpRegistration op, const char* doc) {
  return op.doc(doc)
      .input("X", "any shape")
      .output("Out", "like X, bool")
      .infer_shape([](ShapeContext& context) {
        const auto& x = context.input("X");
        context.set_output("Out", x.shape, DType::boolean, x.lod_level);
        return Status();
      })
      .no_gradient();
}

const OpRegistration kNot =
    tested({"logical_not", &test<is_false>}, "not x").function({.signature = "logical_not(x, out=None, name=None)"});
const OpRegistration kFinite = tested({"isfinite_v2", &test<is_finite>}, "whether each element is finite");
const OpRegistration kInfinite = tested({"isinf_v2", &test<is_infinite>}, "whether each element is infinite");
const OpRegistration kNan = tested({"isnan_v2", &test<is_nan>}, "whether each element is not a number");

ARGOSY_OP("where",
          [](const OpContext& op) {
            op.set_output("Out", at::where(op.tensor("Condition").to(at::kBool), op.tensor("X"), op.tensor("Y")),
                          op.input("X").lod);
          })
    .doc("Each element from X where the condition holds, from Y elsewhere.")
    .input("Condition", "bool")
    .input("X", "taken where true")
    .input("Y", "taken where false")
    .output("Out", "like X")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto& x = context.input("X");
      ASSIGN_OR_RETURN(auto values, graph::broadcast_shape(x.shape, context.input("Y").shape, -1));
      ASSIGN_OR_RETURN(auto shape, graph::broadcast_shape(values, context.input("Condition").shape, -1));
      context.set_output("Out", std::move(shape), x.dtype, x.lod_level);
      return {};
    });

ARGOSY_OP("where_index", [](const OpContext& op) { op.set_output("Out", at::nonzero(op.tensor("Condition"))); })
    .doc("Where a condition holds.")
    .input("Condition", "any shape")
    .output("Out", "one row for each true element: its position, int64")
    .infer_shape([](ShapeContext& context) {
      context.set_output("Out", {-1, static_cast<int64_t>(context.input("Condition").shape.size())}, DType::int64);
      return Status();
    })
    .no_gradient();

}  // namespace
}  // namespace argosy::engine
