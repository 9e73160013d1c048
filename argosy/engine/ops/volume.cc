// Convolutions and pooling of volumes, [batch, channels, depth, height, width] or channels last.
#include <ATen/ATen.h>

#include <limits>

#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::OpDesc;
using graph::ShapeContext;
using Three = std::array<int64_t, 3>;

// A window over three axes; `edges` are {before, after} of each.
struct Box {
  Three size, stride = {1, 1, 1}, dilation = {1, 1, 1};
  std::array<int64_t, 6> edges = {};

  bool symmetric() const { return edges[0] == edges[1] && edges[2] == edges[3] && edges[4] == edges[5]; }
  Three before() const { return {edges[0], edges[2], edges[4]}; }
  int64_t extent(size_t i) const { return dilation[i] * (size[i] - 1) + 1; }
  int64_t positions(int64_t volume, size_t i, bool ceil_mode = false) const {
    const int64_t room = volume + edges[2 * i] + edges[2 * i + 1] - extent(i);
    return (ceil_mode ? room + stride[i] - 1 : room) / stride[i] + 1;
  }
};

Result<Three> three_of(const OpDesc& op, const char* attribute) {
  const auto values = op.attribute_or<std::vector<int32_t>>(attribute, {1, 1, 1});
  if (values.size() != 3) return Status::invalid_argument("{} has {} values, expected 3", attribute, values.size());
  if (std::min({values[0], values[1], values[2]}) < 1)
    return Status::invalid_argument("{} is [{}, {}, {}], expected 1 or more", attribute, values[0], values[1], values[2]);
  return Three{values[0], values[1], values[2]};
}

// SAME: as many positions as volume / stride, and no dilation.
Result<Box> make_box(const OpDesc& op, const Three& size, const Three& volume, bool dilates) {
  Box box{.size = size};
  ASSIGN_OR_RETURN(box.stride, three_of(op, "strides"));
  if (dilates) {
    ASSIGN_OR_RETURN(box.dilation, three_of(op, "dilations"));
  }
  const auto algorithm = op.attribute_or<std::string>("padding_algorithm", "EXPLICIT");
  const auto widths = op.attribute_or<std::vector<int32_t>>("paddings", {0, 0, 0});
  if (algorithm == "VALID") return box;
  if (algorithm == "SAME") {
    box.dilation = {1, 1, 1};
    for (size_t i = 0; i < 3; ++i) {
      if (volume[i] < 0) continue;
      const int64_t steps = (volume[i] + box.stride[i] - 1) / box.stride[i];
      const int64_t missing = std::max<int64_t>((steps - 1) * box.stride[i] + size[i] - volume[i], 0);
      box.edges[2 * i] = missing / 2;
      box.edges[2 * i + 1] = missing - missing / 2;
    }
    return box;
  }
  if (widths.size() != 3 && widths.size() != 6)
    return Status::invalid_argument("paddings has {} values, expected 3 or 6", widths.size());
  for (size_t i = 0; i < 6; ++i) box.edges[i] = widths.size() == 6 ? widths[i] : widths[i / 2];
  return box;
}

bool behind(const OpDesc& op) { return op.attribute_or<std::string>("data_format", "NCDHW") == "NDHWC"; }
at::Tensor in_front(const at::Tensor& x, bool last) { return last ? x.movedim(-1, 1) : x; }
at::Tensor as_it_was(const at::Tensor& x, bool last) { return last ? x.movedim(1, -1) : x; }
Three sizes_of(const at::Tensor& x) { return {x.size(2), x.size(3), x.size(4)}; }

template <typename T>
T taken(Result<T> result) {
  if (!result.ok()) throw KernelError(result.status());
  return *std::move(result);
}

Result<std::vector<int64_t>> volume_shape(const graph::VarDesc& x, bool last) {
  if (x.shape.size() != 5) {
    return Status::invalid_argument("'{}' has shape {}, expected volumes of 5 dimensions", x.name,
                                    graph::shape_to_string(x.shape));
  }
  std::vector<int64_t> shape = x.shape;
  if (last) shape = {shape[0], shape[4], shape[1], shape[2], shape[3]};
  return shape;
}

std::vector<int64_t> in_layout(std::vector<int64_t> shape, bool last) {
  if (last) shape = {shape[0], shape[2], shape[3], shape[4], shape[1]};
  return shape;
}

// The volume with `value` on its sides, as far as the windows reach.
at::Tensor surrounded(const at::Tensor& x, const Box& box, double value, bool ceil_mode = false) {
  std::vector<int64_t> pads;
  for (const size_t i : {2, 1, 0}) {
    const int64_t size = x.size(static_cast<int64_t>(i) + 2);
    const int64_t reach = (box.positions(size, i, ceil_mode) - 1) * box.stride[i] + box.extent(i) - size - box.edges[2 * i];
    pads.insert(pads.end(), {box.edges[2 * i], std::max(reach, ceil_mode ? reach : box.edges[2 * i + 1])});
  }
  return at::constant_pad_nd(x, pads, value);
}

void run_conv3d(const OpContext& op) {
  const bool last = behind(op.desc());
  const at::Tensor x = in_front(op.tensor("Input"), last), &filter = op.tensor("Filter");
  if (x.dim() != 5 || filter.dim() != 5) op.fail("expected a volume and a filter of 5 dimensions");
  const Box box = taken(make_box(op.desc(), sizes_of(filter), sizes_of(x), true));
  const bool plain = box.symmetric();
  const at::Tensor out = at::conv3d(plain ? x : surrounded(x, box, 0), filter, {}, box.stride,
                                    plain ? box.before() : Three{0, 0, 0}, box.dilation, op.attr<int32_t>("groups"));
  op.set_output("Output", as_it_was(out, last));
}

Status infer_conv3d(ShapeContext& context) {
  const bool last = behind(context.op());
  const auto &input = context.input("Input"), &filter = context.input("Filter");
  ASSIGN_OR_RETURN(auto shape, volume_shape(input, last));
  const int64_t groups = context.attribute<int32_t>("groups");
  if (filter.shape.size() != 5 || groups < 1 || shape[1] != filter.shape[1] * groups || filter.shape[0] % groups != 0) {
    return Status::invalid_argument("'{}' has {} channels, which filter '{}' {} does not take in {} groups", input.name, shape[1],
                                    filter.name, graph::shape_to_string(filter.shape), groups);
  }
  ASSIGN_OR_RETURN(const Box box, make_box(context.op(), {filter.shape[2], filter.shape[3], filter.shape[4]},
                                           {shape[2], shape[3], shape[4]}, true));
  for (size_t i = 0; i < 3; ++i) shape[2 + i] = shape[2 + i] < 0 ? -1 : box.positions(shape[2 + i], i);
  shape[1] = filter.shape[0];
  context.set_output("Output", in_layout(std::move(shape), last), input.dtype);
  return {};
}

// The size of a transposed convolution's result, and what `output_size` asks for beyond it.
struct Spread {
  Three natural, extra = {0, 0, 0};
};

Result<Spread> spread_of(const OpDesc& op, const Box& box, const Three& volume) {
  Spread spread;
  const auto more = op.attribute_or<std::vector<int32_t>>("output_padding", {});
  const auto wanted = op.attribute_or<std::vector<int32_t>>("output_size", {});
  for (size_t i = 0; i < 3; ++i) {
    spread.natural[i] = (volume[i] - 1) * box.stride[i] - box.edges[2 * i] - box.edges[2 * i + 1] + box.extent(i);
    if (more.size() == 3) spread.extra[i] = more[i];
    if (wanted.size() == 3) spread.extra[i] = wanted[i] - spread.natural[i];
    if (spread.extra[i] < 0 || (spread.extra[i] > 0 && spread.extra[i] >= std::max(box.stride[i], box.dilation[i]))) {
      return Status::invalid_argument("size {} of axis {} cannot be reached: expected {} to {}",
                                      spread.natural[i] + spread.extra[i], i, spread.natural[i],
                                      spread.natural[i] + box.stride[i] - 1);
    }
  }
  return spread;
}

void run_conv3d_transpose(const OpContext& op) {
  const bool last = behind(op.desc());
  const at::Tensor x = in_front(op.tensor("Input"), last), &filter = op.tensor("Filter");
  if (x.dim() != 5 || filter.dim() != 5) op.fail("expected a volume and a filter of 5 dimensions");
  const Box box = taken(make_box(op.desc(), sizes_of(filter), sizes_of(x), true));
  const Spread spread = taken(spread_of(op.desc(), box, sizes_of(x)));
  const bool plain = box.symmetric();
  at::Tensor out = at::conv_transpose3d(x, filter, {}, box.stride, plain ? box.before() : Three{0, 0, 0}, spread.extra,
                                        op.attr<int32_t>("groups"), box.dilation);
  for (size_t i = 0; !plain && i < 3; ++i)
    out = out.narrow(static_cast<int64_t>(i) + 2, box.edges[2 * i], spread.natural[i] + spread.extra[i]);
  op.set_output("Output", as_it_was(out, last));
}

Status infer_conv3d_transpose(ShapeContext& context) {
  const bool last = behind(context.op());
  const auto &input = context.input("Input"), &filter = context.input("Filter");
  ASSIGN_OR_RETURN(auto shape, volume_shape(input, last));
  if (filter.shape.size() != 5 || filter.shape[0] != shape[1]) {
    return Status::invalid_argument("filter '{}' {} does not take the {} channels of '{}'", filter.name,
                                    graph::shape_to_string(filter.shape), shape[1], input.name);
  }
  const Three volume = {shape[2], shape[3], shape[4]};
  ASSIGN_OR_RETURN(const Box box, make_box(context.op(), {filter.shape[2], filter.shape[3], filter.shape[4]}, volume, true));
  if (std::min({volume[0], volume[1], volume[2]}) > 0) {
    ASSIGN_OR_RETURN(const Spread spread, spread_of(context.op(), box, volume));
    for (size_t i = 0; i < 3; ++i) shape[2 + i] = spread.natural[i] + spread.extra[i];
  }
  shape[1] = filter.shape[1] * context.attribute<int32_t>("groups");
  context.set_output("Output", in_layout(std::move(shape), last), input.dtype);
  return {};
}

OpRegistration described_conv3d(OpRegistration op, const char* text, graph::ShapeRule rule) {
  return op.doc(text)
      .input("Input", "volumes, NCDHW or NDHWC")
      .input("Filter", "five dimensions, the window last")
      .output("Output", "volumes")
      .attr("strides", std::vector<int32_t>{1, 1, 1}, "the step of the window")
      .attr("paddings", std::vector<int32_t>{0, 0, 0}, "zeros around the volume: one per axis, or two")
      .attr("dilations", std::vector<int32_t>{1, 1, 1}, "the distance of the filter's entries")
      .attr("groups", 1, "the channels are cut into so many groups that do not mix")
      .attr("padding_algorithm", std::string("EXPLICIT"), "EXPLICIT | SAME | VALID")
      .attr("data_format", std::string("NCDHW"), "NCDHW | NDHWC")
      .infer_shape(std::move(rule));
}
const OpRegistration kConv3d = described_conv3d({"conv3d", &run_conv3d}, "Convolution of volumes with filters.", infer_conv3d);
const OpRegistration kConv3dTranspose =
    described_conv3d({"conv3d_transpose", &run_conv3d_transpose}, "Each entry spreads a window of the filter.",
                     infer_conv3d_transpose)
        .attr("output_padding", std::vector<int32_t>{}, "how much larger than the smallest size")
        .attr("output_size", std::vector<int32_t>{}, "or the size itself");

bool fits_torch(const Box& box, bool ceil_mode) {
  bool fits = !ceil_mode && box.symmetric();
  for (size_t i = 0; i < 3; ++i) fits = fits && 2 * box.edges[2 * i] <= box.size[i];
  return fits;
}

at::Tensor average_of(const at::Tensor& x, const Box& box, bool ceil_mode, bool exclusive) {
  if (fits_torch(box, ceil_mode)) return at::avg_pool3d(x, box.size, box.stride, box.before(), false, !exclusive);
  const at::Tensor mean = at::avg_pool3d(surrounded(x, box, 0, ceil_mode), box.size, box.stride);
  if (!exclusive) return mean;
  const at::Tensor inside = at::ones({1, 1, x.size(2), x.size(3), x.size(4)}, x.options().requires_grad(false));
  return mean / at::avg_pool3d(surrounded(inside, box, 0, ceil_mode), box.size, box.stride);
}

void run_pool3d(const OpContext& op) {
  const bool last = behind(op.desc()), maximum = op.attr<std::string>("pooling_type") == "max";
  const at::Tensor x = in_front(op.tensor("X"), last);
  if (x.dim() != 5) op.fail("'{}' has {} dimensions, expected 5", op.input_name("X"), x.dim());
  const Three size = op.attr<bool>("global_pooling") ? sizes_of(x) : taken(three_of(op.desc(), "ksize"));
  at::Tensor out;
  if (op.attr<bool>("adaptive")) {
    out = maximum ? std::get<0>(at::adaptive_max_pool3d(x, size)) : at::adaptive_avg_pool3d(x, size);
  } else {
    const Box box = op.attr<bool>("global_pooling") ? Box{.size = size} : taken(make_box(op.desc(), size, sizes_of(x), false));
    const bool ceil_mode = op.attr<bool>("ceil_mode");
    if (!maximum)
      out = average_of(x, box, ceil_mode, op.attr<bool>("exclusive"));
    else if (fits_torch(box, ceil_mode))
      out = at::max_pool3d(x, box.size, box.stride, box.before());
    else
      out = at::max_pool3d(surrounded(x, box, -std::numeric_limits<double>::infinity(), ceil_mode), box.size, box.stride);
  }
  op.set_output("Out", as_it_was(out, last));
}

void run_pool3d_with_index(const OpContext& op) {
  const at::Tensor& x = op.tensor("X");
  const Three size = taken(three_of(op.desc(), "ksize"));
  at::Tensor out, index;
  if (op.attr<bool>("adaptive")) {
    std::tie(out, index) = at::adaptive_max_pool3d(x, size);
  } else {
    const Box box = taken(make_box(op.desc(), size, sizes_of(x), false));
    if (!fits_torch(box, false)) op.fail("paddings must be the same on both sides and at most half the window");
    std::tie(out, index) = at::max_pool3d_with_indices(x, box.size, box.stride, box.before());
  }
  op.set_output("Out", out);
  op.set_output("Mask", index.to(at::kInt));
}

Status infer_pool3d(ShapeContext& context) {
  const bool last = behind(context.op());
  const auto& x = context.input("X");
  ASSIGN_OR_RETURN(auto shape, volume_shape(x, last));
  ASSIGN_OR_RETURN(const Three size, three_of(context.op(), "ksize"));
  ASSIGN_OR_RETURN(const Box box, make_box(context.op(), size, {shape[2], shape[3], shape[4]}, false));
  for (size_t i = 0; i < 3; ++i) {
    if (context.attribute<bool>("global_pooling"))
      shape[2 + i] = 1;
    else if (context.attribute<bool>("adaptive"))
      shape[2 + i] = size[i];
    else if (shape[2 + i] > 0)
      shape[2 + i] = box.positions(shape[2 + i], i, context.attribute<bool>("ceil_mode"));
  }
  context.set_output("Out", in_layout(shape, last), x.dtype);
  context.set_output("Mask", in_layout(shape, last), graph::DType::int32);
  return {};
}

OpRegistration described_pool3d(OpRegistration op, const char* text) {
  return op.doc(text)
      .input("X", "volumes, NCDHW or NDHWC")
      .output("Out", "smaller volumes")
      .attr("ksize", std::vector<int32_t>{1, 1, 1}, "the window; of the result where adaptive")
      .attr("strides", std::vector<int32_t>{1, 1, 1}, "its step")
      .attr("paddings", std::vector<int32_t>{0, 0, 0}, "around the volume: one per axis, or two")
      .attr("global_pooling", false, "the window is the whole volume")
      .attr("adaptive", false, "ksize is the size of the result")
      .infer_shape(infer_pool3d);
}
const OpRegistration kPool3d =
    described_pool3d({"pool3d", &run_pool3d}, "The maximum or the mean under a window that moves through volumes.")
        .attr("pooling_type", std::string("max"), "max | avg")
        .attr("ceil_mode", false, "a last window may hang over the edge")
        .attr("exclusive", true, "a mean counts entries of the volume only")
        .attr("padding_algorithm", std::string("EXPLICIT"), "EXPLICIT | SAME | VALID")
        .attr("data_format", std::string("NCDHW"), "NCDHW | NDHWC");
const OpRegistration kPool3dWithIndex =
    described_pool3d({"max_pool3d_with_index", &run_pool3d_with_index}, "The maximum under a window, and which entry it was.")
        .output("Mask", "the entry's place in its volume");

}  // namespace
}  // namespace argosy::engine
