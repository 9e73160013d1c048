#include "argosy/graph/layers/loss.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

// Losses that compare values, rank pairs or draw classes.
namespace argosy::python {

using graph::DType;
using graph::ParamAttr;
using graph::Variable;

namespace {

// `dtype` is what Paddle checks and then replaces by that of the label.
Variable label_smooth(const Variable& label, const VariableOrNone& prior_dist, float epsilon, DType dtype, const Text& name) {
  if (!graph::is_floating(dtype)) {
    throw Error(Status::invalid_argument("label_smooth: dtype is {}, expected float32 or float64", graph::dtype_name(dtype)));
  }
  return layers::label_smooth(label, {.prior_dist = prior_dist, .epsilon = epsilon, .name = name});
}

Variable nce(const Variable& input, const Variable& label, int32_t num_total_classes, const VariableOrNone& sample_weight,
             const ParamAttr& param_attr, const ParamAttr& bias_attr, std::optional<int32_t> num_neg_samples, const Text& name,
             const std::string& sampler, const std::optional<std::vector<float>>& custom_dist, int32_t seed, bool is_sparse) {
  return layers::nce(input, label, num_total_classes,
                     {.sample_weight = sample_weight,
                      .param = param_attr,
                      .bias = bias_attr,
                      .num_neg_samples = num_neg_samples.value_or(10),
                      .name = name,
                      .sampler = sampler,
                      .custom_dist = custom_dist.value_or(std::vector<float>()),
                      .seed = seed,
                      .is_sparse = is_sparse});
}

Variable sampled_softmax(const Variable& logits, const Variable& label, int32_t num_samples, int32_t num_true,
                         bool remove_accidental_hits, bool use_customized_samples, const VariableOrNone& customized_samples,
                         const VariableOrNone& customized_probabilities, int32_t seed) {
  layers::SampledSoftmaxOptions options{.num_true = num_true, .remove_accidental_hits = remove_accidental_hits, .seed = seed};
  if (use_customized_samples) {
    if (!customized_samples || !customized_probabilities) {
      throw Error(Status::invalid_argument("use_customized_samples needs customized_samples and customized_probabilities"));
    }
    options.customized_samples = customized_samples;
    options.customized_probabilities = customized_probabilities;
  }
  return layers::sampled_softmax_with_cross_entropy(logits, label, num_samples, options);
}

void bind_pointwise(py::module_& m) {
  const auto none = py::none();
  m.def("square_error_cost", &layers::square_error_cost, py::arg("input"), py::arg("label"), R"((input - label)^2 of each element.

    >>> guess, label = fluid.data("guess", [None, 1]), fluid.data("label", [None, 1])
    >>> cost = fluid.layers.square_error_cost(guess, label)
    )");
  m.def("mse_loss", &layers::mse_loss, py::arg("input"), py::arg("label"), R"(The mean of (input - label)^2.

    >>> guess, label = fluid.data("guess", [None, 1]), fluid.data("label", [None, 1])
    >>> loss = fluid.layers.mse_loss(guess, label)
    )");
  m.def("label_smooth", &label_smooth, py::arg("label"), py::arg("prior_dist") = none, py::arg("epsilon") = 0.1f,
        py::arg("dtype") = "float32", py::arg("name") = none,
        R"(Labels as probabilities that give a part epsilon to the other classes, evenly or as prior_dist says.

    >>> one = fluid.data("one", [None, 10])
    >>> smooth = fluid.layers.label_smooth(one, epsilon=0.1)
    )");
}

}  // namespace

void bind_layers_objective(py::module_& m) {
  const auto none = py::none();
  bind_pointwise(m);
  m.def("nce", &nce, py::arg("input"), py::arg("label"), py::arg("num_total_classes"), py::arg("sample_weight") = none,
        py::arg("param_attr") = none, py::arg("bias_attr") = none, py::arg("num_neg_samples") = none, py::arg("name") = none,
        py::arg("sampler") = "uniform", py::arg("custom_dist") = none, py::arg("seed") = 0, py::arg("is_sparse") = false,
        R"(The loss of noise-contrastive estimation, [batch, 1]: the label against num_neg_samples classes that are drawn.

    >>> x, label = fluid.data("x", [None, 8]), fluid.data("label", [None, 1], "int64")
    >>> fluid.layers.nce(x, label, num_total_classes=1000, num_neg_samples=5).shape
    (-1, 1)
    )");
  m.def("sampled_softmax_with_cross_entropy", &sampled_softmax, py::arg("logits"), py::arg("label"), py::arg("num_samples"),
        py::arg("num_true") = 1, py::arg("remove_accidental_hits") = true, py::arg("use_customized_samples") = false,
        py::arg("customized_samples") = none, py::arg("customized_probabilities") = none, py::arg("seed") = 0,
        R"(The cross-entropy of softmax over the label and num_samples classes that are drawn.

    >>> scores, label = fluid.data("scores", [None, 1000]), fluid.data("label", [None, 1], "int64")
    >>> loss = fluid.layers.sampled_softmax_with_cross_entropy(scores, label, num_samples=20)
    )");
}

}  // namespace argosy::python
