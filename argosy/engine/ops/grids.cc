// Images by coordinates, windows put back together, and paths: through a beam search, through an alignment, down a tree.
#include <ATen/ATen.h>

#include "argosy/base/text.h"
#include "argosy/engine/ops/arguments.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::DType;
using graph::ShapeContext;

std::vector<int64_t> grid_shape(const OpContext& op) {
  return integers(op, {.attribute = "output_shape", .tensor = "OutputShape", .list = ""});
}

ARGOSY_OP("affine_grid",
          [](const OpContext& op) {
            const at::Tensor& theta = op.tensor("Theta");
            const std::vector<int64_t> shape = grid_shape(op);
            const bool image = shape.size() == 4;
            if (theta.dim() != 3 || (!image && shape.size() != 5) || theta.size(1) != (image ? 2 : 3) ||
                theta.size(2) != (image ? 3 : 4)) {
              op.fail("'{}' has shape {}, expected [batch, 2, 3] for images and [batch, 3, 4] for volumes",
                      op.input_name("Theta"), graph::shape_to_string(theta.sizes().vec()));
            }
            op.set_output("Output", at::affine_grid_generator(theta, shape, op.attr<bool>("align_corners")));
          })
    .doc("Where each pixel of an image comes from, in coordinates from -1 to 1.")
    .input("Theta", "[batch, 2, 3] or [batch, 3, 4]: a matrix and a shift")
    .optional_input("OutputShape", "the shape, where the program computes it")
    .output("Output", "[batch, height, width, 2]")
    .attr("output_shape", std::vector<int32_t>{}, "of the image")
    .attr("align_corners", true, "-1 and 1 are the middles of the outer pixels")
    .infer_shape([](ShapeContext& context) -> Status {
      const std::vector<int64_t> given = integer_list(context.op(), "output_shape");
      const auto& theta = context.input("Theta");
      std::vector<int64_t> shape(given.size() == 5 ? 5 : 4, -1);
      for (size_t i = 2; i < given.size(); ++i) shape[i - 1] = given[i];
      shape[0] = theta.shape.empty() ? -1 : theta.shape[0];
      shape.back() = static_cast<int64_t>(shape.size()) - 2;
      context.set_output("Output", std::move(shape), theta.dtype);
      return {};
    });

// Its place in torch's enumeration.
int64_t place_of(const OpContext& op, const char* attribute, const std::vector<std::string>& names) {
  const auto& value = op.attr<std::string>(attribute);
  const auto found = std::find(names.begin(), names.end(), value);
  if (found == names.end()) op.fail("attribute '{}' is '{}', expected one of {}", attribute, value, argosy::join(names, ", "));
  return found - names.begin();
}

ARGOSY_OP("grid_sampler",
          [](const OpContext& op) {
            const int64_t mode = place_of(op, "mode", {"bilinear", "nearest"});
            const int64_t padding = place_of(op, "padding_mode", {"zeros", "border", "reflection"});
            op.set_output("Output",
                          at::grid_sampler(op.tensor("X"), op.tensor("Grid"), mode, padding, op.attr<bool>("align_corners")));
          })
    .doc("The values of images at coordinates from -1 to 1.")
    .input("X", "[batch, channels, height, width], or volumes")
    .input("Grid", "[batch, height, width, 2], or 3 for volumes")
    .output("Output", "channels of X, sizes of Grid")
    .attr("mode", std::string("bilinear"), "bilinear | nearest")
    .attr("padding_mode", std::string("zeros"), "zeros | border | reflection: what is outside")
    .attr("align_corners", true, "-1 and 1 are the middles of the outer pixels")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto &x = context.input("X"), &grid = context.input("Grid");
      if (x.shape.size() != grid.shape.size() || x.shape.size() < 4) {
        return Status::invalid_argument("'{}' {} and '{}' {} do not fit", x.name, graph::shape_to_string(x.shape), grid.name,
                                        graph::shape_to_string(grid.shape));
      }
      std::vector<int64_t> shape = {x.shape[0], x.shape[1]};
      shape.insert(shape.end(), grid.shape.begin() + 1, grid.shape.end() - 1);
      context.set_output("Output", std::move(shape), x.dtype);
      return {};
    });

struct FoldRule {
  std::vector<int64_t> size, kernel, stride, dilation, edges;  // edges: top, left, bottom, right
};

FoldRule fold_rule(const graph::OpDesc& op) {
  const auto list = [&](const char* name) { return integer_list(op, name); };
  return {list("output_sizes"), list("kernel_sizes"), list("strides"), list("dilations"), list("paddings")};
}

ARGOSY_OP("fold",
          [](const OpContext& op) {
            const FoldRule rule = fold_rule(op.desc());
            const int64_t height = rule.size[0] + rule.edges[0] + rule.edges[2],
                          width = rule.size[1] + rule.edges[1] + rule.edges[3];
            const at::Tensor whole = at::col2im(op.tensor("X"), {height, width}, rule.kernel, rule.dilation, {0, 0}, rule.stride);
            op.set_output("Y", whole.narrow(2, rule.edges[0], rule.size[0]).narrow(3, rule.edges[1], rule.size[1]));
          })
    .doc("What unfold made of an image, added up where windows overlap.")
    .input("X", "[batch, channels * window, windows]")
    .output("Y", "[batch, channels, height, width]")
    .attr("output_sizes", std::vector<int32_t>{}, "[height, width]")
    .attr("kernel_sizes", std::vector<int32_t>{}, "of the window")
    .attr("strides", std::vector<int32_t>{1, 1}, "its step")
    .attr("paddings", std::vector<int32_t>{0, 0, 0, 0}, "top, left, bottom, right")
    .attr("dilations", std::vector<int32_t>{1, 1}, "the distance of its pixels")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto& x = context.input("X");
      const FoldRule rule = fold_rule(context.op());
      if (x.shape.size() != 3 || rule.size.size() != 2 || rule.kernel.size() != 2 || rule.stride.size() != 2 ||
          rule.dilation.size() != 2 || rule.edges.size() != 4) {
        return Status::invalid_argument(
            "'{}' {} is no [batch, channels * window, windows], or an attribute has not two numbers (paddings: four)", x.name,
            graph::shape_to_string(x.shape));
      }
      const int64_t window = rule.kernel[0] * rule.kernel[1];
      if (window < 1 || x.shape[1] % window != 0)
        return Status::invalid_argument("the {} entries of '{}' are no multiple of the window's {}", x.shape[1], x.name, window);
      context.set_output("Y", {x.shape[0], x.shape[1] / window, rule.size[0], rule.size[1]}, x.dtype);
      return {};
    });

// Values at places of a larger, flat plane; the rest is 0.
void run_unpool(const OpContext& op) {
  const at::Tensor& x = op.tensor("X");
  const at::Tensor places = op.tensor("Indices").to(at::kLong);
  if (places.sizes() != x.sizes()) op.fail("'{}' and '{}' have different shapes", op.input_name("X"), op.input_name("Indices"));
  std::vector<int64_t> size = integer_list(op.desc(), "output_size");
  const auto axes = static_cast<size_t>(x.dim()) - 2;
  if (size.size() > axes) size.erase(size.begin(), size.end() - static_cast<std::ptrdiff_t>(axes));
  if (size.size() != axes) op.fail("output_size has {} values, expected {}", size.size(), axes);
  op.set_output("Out", axes == 2 ? at::max_unpool2d(x, places, size)
                                 : at::max_unpool3d(x, places, size, integer_list(op.desc(), "strides"),
                                                    integer_list(op.desc(), "paddings")));
}

OpRegistration unpool_op(const char* type, int32_t axes) {
  const std::vector<int32_t> ones(static_cast<size_t>(axes), 1), zeros(static_cast<size_t>(axes), 0);
  return OpRegistration(type, &run_unpool)
      .doc("Values back at the places that max pooling took them from, and 0 elsewhere.")
      .input("X", "what the pooling gave")
      .input("Indices", "the places, its Mask")
      .output("Out", "as large as before the pooling")
      .attr("ksize", ones, "the window of the pooling")
      .attr("strides", ones, "its step")
      .attr("paddings", zeros, "its padding")
      .attr("unpooling_type", std::string("max"), "max")
      .attr("output_size", std::vector<int32_t>{}, "of the result")
      .attr("data_format", std::string(axes == 2 ? "NCHW" : "NCDHW"), "channels first")
      .infer_shape([axes = static_cast<size_t>(axes)](ShapeContext& context) -> Status {
        const auto& x = context.input("X");
        const std::vector<int64_t> size = integer_list(context.op(), "output_size");
        if (x.shape.size() != axes + 2) {
          return Status::invalid_argument("'{}' has shape {}, expected {} dimensions", x.name, graph::shape_to_string(x.shape),
                                          axes + 2);
        }
        std::vector<int64_t> shape = {x.shape[0], x.shape[1]};
        if (size.size() < axes) return Status::invalid_argument("output_size has {} values, expected {}", size.size(), axes);
        shape.insert(shape.end(), size.end() - static_cast<std::ptrdiff_t>(axes), size.end());
        context.set_output("Out", std::move(shape), x.dtype);
        return {};
      });
}
const OpRegistration kUnpool = unpool_op("unpool", 2);
const OpRegistration kUnpool3d = unpool_op("unpool3d", 3);

ARGOSY_OP("gather_tree",
          [](const OpContext& op) {
            const at::Tensor &ids = op.tensor("Ids"), &parents = op.tensor("Parents");
            if (ids.dim() != 3 || parents.sizes() != ids.sizes())
              op.fail("'{}' and '{}' are not both [time, batch, beam]", op.input_name("Ids"), op.input_name("Parents"));
            at::Tensor beam = at::arange(ids.size(2), ids.options().dtype(at::kLong)).expand({ids.size(1), ids.size(2)});
            std::vector<at::Tensor> steps(static_cast<size_t>(ids.size(0)));
            for (int64_t step = ids.size(0) - 1; step >= 0; --step) {
              steps[static_cast<size_t>(step)] = ids[step].gather(1, beam);
              beam = parents[step].to(at::kLong).gather(1, beam);
            }
            op.set_output("Out", at::stack(steps));
          })
    .doc("Whole sequences of a beam search: from each beam of the last step back along its parents.")
    .input("Ids", "[time, batch, beam]")
    .input("Parents", "which beam of the step before")
    .output("Out", "like Ids")
    .no_gradient()
    .infer_shape(graph::same_shape_as("Ids", "Out"));

ARGOSY_OP("warpctc",
          [](const OpContext& op) {
            const at::Tensor scores = at::log_softmax(op.tensor("Logits"), -1);
            const auto lengths = [&](const char* slot) { return op.on_cpu(slot).flatten().to(at::kLong); };
            at::Tensor loss = at::ctc_loss(scores, op.tensor("Label").to(at::kLong), lengths("LogitsLength"),
                                           lengths("LabelLength"), op.attr<int32_t>("blank"), at::Reduction::None);
            if (op.attr<bool>("norm_by_times")) {
              // the loss itself stays; its gradient is divided by the number of steps
              const at::Tensor share = loss / op.tensor("LogitsLength").flatten().to(loss.scalar_type());
              loss = share + (loss - share).detach();
            }
            op.set_output("Loss", loss.reshape({-1, 1}));
          })
    .doc("The loss of aligning sequences with their labels, by connectionist temporal classification.")
    .input("Logits", "[time, batch, classes]")
    .input("Label", "[batch, longest label]")
    .input("LogitsLength", "how many steps each has")
    .input("LabelLength", "how long each label is")
    .output("Loss", "[batch, 1]")
    .optional_output("WarpCTCGrad", "not made")
    .attr("blank", 0, "the class of no label")
    .attr("norm_by_times", false, "divide the gradient by the number of steps")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto& logits = context.input("Logits");
      if (logits.shape.size() != 3) {
        return Status::invalid_argument("'{}' has shape {}, expected [time, batch, classes]", logits.name,
                                        graph::shape_to_string(logits.shape));
      }
      context.set_output("Loss", {logits.shape[1], 1}, logits.dtype);
      return {};
    });

}  // namespace
}  // namespace argosy::engine
