#include "argosy/graph/layers/nn.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

// Convolutions, poolings, normalisation and dropout.
namespace argosy::python {

using graph::ParamAttr;
using graph::Variable;
using layers::Extent;
using layers::Padding;

namespace {

// An integer for both, or [height, width].
Extent extent_from_python(py::handle value) {
  const auto sizes = shape_from_python(value);
  if (sizes.size() == 1) return static_cast<int32_t>(sizes[0]);
  if (sizes.size() == 2) return {static_cast<int32_t>(sizes[0]), static_cast<int32_t>(sizes[1])};
  throw Error(Status::invalid_argument("expected an integer or [height, width]; found {}", py::repr(value).cast<std::string>()));
}

std::optional<Extent> optional_extent(const py::object& value) {
  if (value.is_none()) return std::nullopt;
  return extent_from_python(value);
}

// An integer, [height, width], [top, bottom, left, right], those with a pair for each of the four dimensions, "SAME" or "VALID".
Padding padding_from_python(const py::object& value, const std::string& data_format) {
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (!py::isinstance<py::int_>(value) && py::len(value) == 4 && !py::isinstance<py::int_>(value[py::int_(0)])) {
    std::vector<int32_t> sides;
    for (int dimension : data_format == "NHWC" ? std::array{1, 2} : std::array{2, 3}) {
      for (int64_t side : shape_from_python(value[py::int_(dimension)])) sides.push_back(static_cast<int32_t>(side));
    }
    return sides;
  }
  const auto sizes = shape_from_python(value);
  if (sizes.size() == 1) return static_cast<int32_t>(sizes[0]);
  return std::vector<int32_t>(sizes.begin(), sizes.end());
}

void bind_convolutions(py::module_& m) {
  m.def(
      "conv2d",
      [](const Variable& input, int32_t num_filters, const py::object& filter_size, const py::object& stride,
         const py::object& padding, const py::object& dilation, std::optional<int32_t> groups, const ParamAttr& param_attr,
         const ParamAttr& bias_attr, bool use_cudnn, const Text& act, const Text& name, const std::string& data_format) {
        return layers::conv2d(input, num_filters, extent_from_python(filter_size),
                              {.stride = extent_from_python(stride),
                               .padding = padding_from_python(padding, data_format),
                               .dilation = extent_from_python(dilation),
                               .groups = groups.value_or(1),
                               .param = param_attr,
                               .bias = bias_attr,
                               .use_cudnn = use_cudnn,
                               .act = act,
                               .name = name,
                               .data_format = data_format});
      },
      py::arg("input"), py::arg("num_filters"), py::arg("filter_size"), py::arg("stride") = 1, py::arg("padding") = 0,
      py::arg("dilation") = 1, py::arg("groups") = py::none(), py::arg("param_attr") = py::none(),
      py::arg("bias_attr") = py::none(), py::arg("use_cudnn") = true, py::arg("act") = py::none(), py::arg("name") = py::none(),
      py::arg("data_format") = "NCHW", R"(Images through num_filters filters of filter_size, plus a bias, through `act`.

    >>> image = fluid.data("image", [None, 3, 8, 8])
    >>> fluid.layers.conv2d(image, num_filters=4, filter_size=3, padding=1, act="relu").shape
    (-1, 4, 8, 8)
    )");
  m.def(
      "conv2d_transpose",
      [](const Variable& input, int32_t num_filters, const py::object& output_size, const py::object& filter_size,
         const py::object& padding, const py::object& stride, const py::object& dilation, std::optional<int32_t> groups,
         const ParamAttr& param_attr, const ParamAttr& bias_attr, bool use_cudnn, const Text& act, const Text& name,
         const std::string& data_format) {
        return layers::conv2d_transpose(input, num_filters,
                                        {.output_size = optional_extent(output_size),
                                         .filter_size = optional_extent(filter_size),
                                         .padding = padding_from_python(padding, data_format),
                                         .stride = extent_from_python(stride),
                                         .dilation = extent_from_python(dilation),
                                         .groups = groups.value_or(1),
                                         .param = param_attr,
                                         .bias = bias_attr,
                                         .use_cudnn = use_cudnn,
                                         .act = act,
                                         .name = name,
                                         .data_format = data_format});
      },
      py::arg("input"), py::arg("num_filters"), py::arg("output_size") = py::none(), py::arg("filter_size") = py::none(),
      py::arg("padding") = 0, py::arg("stride") = 1, py::arg("dilation") = 1, py::arg("groups") = py::none(),
      py::arg("param_attr") = py::none(), py::arg("bias_attr") = py::none(), py::arg("use_cudnn") = true,
      py::arg("act") = py::none(), py::arg("name") = py::none(), py::arg("data_format") = "NCHW",
      R"(The transposed convolution: images that become larger by the stride.

    >>> image = fluid.data("image", [None, 3, 8, 8])
    >>> fluid.layers.conv2d_transpose(image, num_filters=4, filter_size=2, stride=2).shape
    (-1, 4, 16, 16)
    )");
}

void bind_poolings(py::module_& m) {
  m.def(
      "pool2d",
      [](const Variable& input, const py::object& pool_size, const std::string& pool_type, const py::object& pool_stride,
         const py::object& pool_padding, bool global_pooling, bool, bool ceil_mode, const Text& name, bool exclusive,
         const std::string& data_format) {
        return layers::pool2d(input, {.pool_size = extent_from_python(pool_size),
                                      .pool_type = pool_type,
                                      .pool_stride = extent_from_python(pool_stride),
                                      .pool_padding = padding_from_python(pool_padding, data_format),
                                      .global_pooling = global_pooling,
                                      .ceil_mode = ceil_mode,
                                      .name = name,
                                      .exclusive = exclusive,
                                      .data_format = data_format});
      },
      py::arg("input"), py::arg("pool_size") = -1, py::arg("pool_type") = "max", py::arg("pool_stride") = 1,
      py::arg("pool_padding") = 0, py::arg("global_pooling") = false, py::arg("use_cudnn") = true, py::arg("ceil_mode") = false,
      py::arg("name") = py::none(), py::arg("exclusive") = true, py::arg("data_format") = "NCHW",
      R"(Images pooled by windows of pool_size: their maxima, or averages with pool_type 'avg'.

    >>> image = fluid.data("image", [None, 3, 8, 8])
    >>> fluid.layers.pool2d(image, pool_size=2, pool_stride=2).shape
    (-1, 3, 4, 4)
    )");
  m.def(
      "adaptive_pool2d",
      [](const Variable& input, const py::object& pool_size, const std::string& pool_type, bool require_index, const Text& name) {
        const auto made = layers::adaptive_pool2d(input, extent_from_python(pool_size), pool_type, name);
        return require_index ? py::object(py::make_tuple(made.out, made.index)) : py::cast(made.out);
      },
      py::arg("input"), py::arg("pool_size"), py::arg("pool_type") = "max", py::arg("require_index") = false,
      py::arg("name") = py::none(),
      R"(Images pooled to pool_size, whatever their size; with require_index the places of the maxima too.

    >>> image = fluid.data("image", [None, 3, 8, 8])
    >>> fluid.layers.adaptive_pool2d(image, 2, "avg").shape
    (-1, 3, 2, 2)
    )");
}

void bind_batch_norm(py::module_& m) {
  m.def(
      "batch_norm",
      [](const Variable& input, const Text& act, bool is_test, float momentum, float epsilon, const ParamAttr& param_attr,
         const ParamAttr& bias_attr, const std::string& data_layout, bool in_place, const Text& name,
         const Text& moving_mean_name, const Text& moving_variance_name, std::optional<bool> do_model_average,
         bool use_global_stats) {
        return layers::batch_norm(input, {.act = act,
                                          .is_test = is_test,
                                          .momentum = momentum,
                                          .epsilon = epsilon,
                                          .param = param_attr,
                                          .bias = bias_attr,
                                          .data_layout = data_layout,
                                          .in_place = in_place,
                                          .name = name,
                                          .moving_mean_name = moving_mean_name,
                                          .moving_variance_name = moving_variance_name,
                                          .do_model_average_for_mean_and_var = do_model_average,
                                          .use_global_stats = use_global_stats});
      },
      py::arg("input"), py::arg("act") = py::none(), py::arg("is_test") = false, py::arg("momentum") = 0.9f,
      py::arg("epsilon") = 1e-5f, py::arg("param_attr") = py::none(), py::arg("bias_attr") = py::none(),
      py::arg("data_layout") = "NCHW", py::arg("in_place") = false, py::arg("name") = py::none(),
      py::arg("moving_mean_name") = py::none(), py::arg("moving_variance_name") = py::none(),
      py::arg("do_model_average_for_mean_and_var") = py::none(), py::arg("use_global_stats") = false,
      R"(Each channel with mean 0 and variance 1 over the batch, then scaled and shifted; with is_test by the running statistics.

    >>> image = fluid.data("image", [None, 3, 8, 8])
    >>> fluid.layers.batch_norm(image, act="relu").shape
    (-1, 3, 8, 8)
    )");
}

void bind_layer_norm_and_dropout(py::module_& m) {
  m.def(
      "layer_norm",
      [](const Variable& input, bool scale, bool shift, int32_t begin_norm_axis, float epsilon, const ParamAttr& param_attr,
         const ParamAttr& bias_attr, const Text& act, const Text& name) {
        return layers::layer_norm(input, {.scale = scale,
                                          .shift = shift,
                                          .begin_norm_axis = begin_norm_axis,
                                          .epsilon = epsilon,
                                          .param = param_attr,
                                          .bias = bias_attr,
                                          .act = act,
                                          .name = name});
      },
      py::arg("input"), py::arg("scale") = true, py::arg("shift") = true, py::arg("begin_norm_axis") = 1,
      py::arg("epsilon") = 1e-5f, py::arg("param_attr") = py::none(), py::arg("bias_attr") = py::none(),
      py::arg("act") = py::none(), py::arg("name") = py::none(),
      R"(Each sample with mean 0 and variance 1 over the dimensions from begin_norm_axis on, then scaled and shifted.

    >>> x = fluid.data("x", [None, 4])
    >>> y = fluid.layers.layer_norm(x)
    )");
  m.def(
      "dropout",
      [](const Variable& x, float dropout_prob, bool is_test, std::optional<int32_t> seed, const Text& name,
         const std::string& implementation) {
        return layers::dropout(x, dropout_prob,
                               {.is_test = is_test, .seed = seed, .name = name, .dropout_implementation = implementation});
      },
      py::arg("x"), py::arg("dropout_prob"), py::arg("is_test") = false, py::arg("seed") = py::none(),
      py::arg("name") = py::none(), py::arg("dropout_implementation") = "downgrade_in_infer",
      R"(x with a part dropout_prob of its elements set to 0, drawn anew in every run; with is_test as dropout_implementation says.

    >>> x = fluid.data("x", [None, 4])
    >>> y = fluid.layers.dropout(x, 0.5)
    )");
}

}  // namespace

void bind_layers_image(py::module_& m) {
  bind_convolutions(m);
  bind_poolings(m);
  bind_batch_norm(m);
  bind_layer_norm_and_dropout(m);
}

}  // namespace argosy::python
