// Special functions element by element, of one tensor and of pairs.
#include <ATen/ATen.h>

#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::ShapeContext;

OpRegistration special_function(const char* type, Kernel kernel, const char* doc) {
  return OpRegistration(type, std::move(kernel))
      .doc(doc)
      .input("X", "any shape")
      .output("Out", "like X")
      .infer_shape(graph::same_shape_as_x);
}

template <at::Tensor (*function)(const at::Tensor&)>
void run_special(const OpContext& op) {
  op.set_output("Out", function(op.tensor("X")), op.input("X").lod);
}

const OpRegistration kDigamma = special_function("digamma", &run_special<at::digamma>, "The derivative of lgamma.");
const OpRegistration kLgamma = special_function("lgamma", &run_special<at::lgamma>, "The logarithm of |gamma(x)|.");
const OpRegistration kErfinv = special_function("erfinv", &run_special<at::erfinv>, "The inverse of erf.");
const OpRegistration kAngle = special_function("angle", &run_special<at::angle>, "0, or pi for numbers below 0.");
const OpRegistration kI0 = special_function("i0", &run_special<at::special_i0>, "The modified Bessel function of order 0.");
const OpRegistration kI0e = special_function("i0e", &run_special<at::special_i0e>, "exp(-|x|) i0(x).");
const OpRegistration kI1 = special_function("i1", &run_special<at::special_i1>, "The modified Bessel function of order 1.");
const OpRegistration kI1e = special_function("i1e", &run_special<at::special_i1e>, "exp(-|x|) i1(x).");
const OpRegistration kPolygamma = special_function(
                                      "polygamma",
                                      [](const OpContext& op) {
                                        const int32_t n = op.attr<int32_t>("n");
                                        if (n < 0) op.fail("attribute 'n' is {}, expected 0 or more", n);
                                        op.set_output("Out", at::polygamma(n, op.tensor("X")), op.input("X").lod);
                                      },
                                      "The n-th derivative of digamma.")
                                      .attr("n", 0, "which derivative");
const OpRegistration kPoisson = special_function(
                                    "poisson",
                                    [](const OpContext& op) {
                                      const at::Tensor& x = op.tensor("X");
                                      if (!at::isFloatingType(x.scalar_type())) op.fail("takes means of a float type");
                                      op.set_output("Out", at::poisson(x, op.device_generator(0)), op.input("X").lod);
                                    },
                                    "Whole numbers drawn from Poisson distributions with the means in X.")
                                    .no_gradient();

// The shape of both, broadcast.
graph::ShapeRule pair_shape(std::string first, std::string second) {
  return [=](ShapeContext& context) -> Status {
    const auto &x = context.input(first), &y = context.input(second);
    const bool longer = x.shape.size() >= y.shape.size();
    const auto &wide = longer ? x : y, &narrow = longer ? y : x;
    std::vector<int64_t> shape = wide.shape;
    const size_t gap = wide.shape.size() - narrow.shape.size();
    for (size_t i = 0; i < narrow.shape.size(); ++i) {
      int64_t& size = shape[gap + i];
      if (narrow.shape[i] == 1 || narrow.shape[i] == size) continue;
      if (size != 1 && size >= 0 && narrow.shape[i] >= 0) {
        return Status::invalid_argument("variables '{}' {} and '{}' {} do not fit", x.name, graph::shape_to_string(x.shape),
                                        y.name, graph::shape_to_string(y.shape));
      }
      if (size == 1 || narrow.shape[i] > 1) size = narrow.shape[i];
    }
    context.set_output("Out", std::move(shape), x.dtype);
    return {};
  };
}

ARGOSY_OP("atan2", [](const OpContext& op) { op.set_output("Out", at::atan2(op.tensor("X1"), op.tensor("X2"))); })
    .doc("The angle of the point (x2, x1), from -pi to pi.")
    .input("X1", "ordinates")
    .input("X2", "abscissas")
    .output("Out", "like both")
    .infer_shape(pair_shape("X1", "X2"));

template <at::Tensor (*function)(const at::Tensor&, const at::Tensor&)>
OpRegistration pair_without_gradient(const char* type, const char* doc) {
  return OpRegistration(type, [](const OpContext& op) { op.set_output("Out", function(op.tensor("x"), op.tensor("y"))); })
      .doc(doc)
      .input("x", "any shape")
      .input("y", "one that fits")
      .output("Out", "like both")
      .no_gradient()
      .infer_shape(pair_shape("x", "y"));
}
const OpRegistration kNextafter = pair_without_gradient<at::nextafter>("nextafter", "The next number after x towards y.");
const OpRegistration kGcd = pair_without_gradient<at::gcd>("gcd", "The greatest common divisor of whole numbers.");
const OpRegistration kLcm = pair_without_gradient<at::lcm>("lcm", "The least common multiple of whole numbers.");

Status square_matrices(ShapeContext& context, const char* in, const char* out) {
  const auto& x = context.input(in);
  const size_t rank = x.shape.size();
  if (rank < 2 || (x.shape[rank - 1] >= 0 && x.shape[rank - 2] >= 0 && x.shape[rank - 1] != x.shape[rank - 2]))
    return Status::invalid_argument("'{}' has shape {}, expected square matrices", x.name, graph::shape_to_string(x.shape));
  context.set_output(out, x.shape, x.dtype);
  return {};
}

ARGOSY_OP("inverse", [](const OpContext& op) { op.set_output("Output", at::linalg_inv(op.tensor("Input"))); })
    .doc("The inverse of square matrices.")
    .input("Input", "[..., n, n]")
    .output("Output", "like Input")
    .infer_shape([](ShapeContext& context) { return square_matrices(context, "Input", "Output"); });

ARGOSY_OP("cholesky",
          [](const OpContext& op) { op.set_output("Out", at::linalg_cholesky(op.tensor("X"), op.attr<bool>("upper"))); })
    .doc("The triangular matrix whose product with its transpose is X, which is symmetric and positive definite.")
    .input("X", "[..., n, n]")
    .output("Out", "like X")
    .attr("upper", false, "the upper one")
    .infer_shape([](ShapeContext& context) { return square_matrices(context, "X", "Out"); });

}  // namespace
}  // namespace argosy::engine
