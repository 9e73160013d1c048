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
  m.def(
      "sigmoid_cross_entropy_with_logits",
      [](const Variable& x, const Variable& label, int32_t ignore_index, const Text& name, bool normalize) {
        return layers::sigmoid_cross_entropy_with_logits(x, label,
                                                         {.ignore_index = ignore_index, .name = name, .normalize = normalize});
      },
      py::arg("x"), py::arg("label"), py::arg("ignore_index") = -100, py::arg("name") = none, py::arg("normalize") = false);
  m.def("square_error_cost", &layers::square_error_cost, py::arg("input"), py::arg("label"));
  m.def("mse_loss", &layers::mse_loss, py::arg("input"), py::arg("label"));
  m.def(
      "log_loss",
      [](const Variable& input, const Variable& label, float epsilon, const Text& name) {
        return layers::log_loss(input, label, epsilon, name);
      },
      py::arg("input"), py::arg("label"), py::arg("epsilon") = 1e-4f, py::arg("name") = none);
  m.def("huber_loss", &layers::huber_loss, py::arg("input"), py::arg("label"), py::arg("delta"));
  m.def(
      "smooth_l1",
      [](const Variable& x, const Variable& y, const VariableOrNone& inside_weight, const VariableOrNone& outside_weight,
         std::optional<float> sigma) {
        return layers::smooth_l1(
            x, y, {.inside_weight = inside_weight, .outside_weight = outside_weight, .sigma = sigma.value_or(1.0f)});
      },
      py::arg("x"), py::arg("y"), py::arg("inside_weight") = none, py::arg("outside_weight") = none, py::arg("sigma") = none);
  m.def(
      "kldiv_loss",
      [](const Variable& x, const Variable& target, const std::string& reduction, const Text& name) {
        return layers::kldiv_loss(x, target, reduction, name);
      },
      py::arg("x"), py::arg("target"), py::arg("reduction") = "mean", py::arg("name") = none);
  m.def("label_smooth", &label_smooth, py::arg("label"), py::arg("prior_dist") = none, py::arg("epsilon") = 0.1f,
        py::arg("dtype") = "float32", py::arg("name") = none);
}

void bind_ranking(py::module_& m) {
  const auto none = py::none();
  m.def(
      "rank_loss",
      [](const Variable& label, const Variable& left, const Variable& right, const Text& name) {
        return layers::rank_loss(label, left, right, name);
      },
      py::arg("label"), py::arg("left"), py::arg("right"), py::arg("name") = none);
  m.def(
      "margin_rank_loss",
      [](const Variable& label, const Variable& left, const Variable& right, float margin, const Text& name) {
        return layers::margin_rank_loss(label, left, right, margin, name);
      },
      py::arg("label"), py::arg("left"), py::arg("right"), py::arg("margin") = 0.1f, py::arg("name") = none);
  m.def(
      "bpr_loss",
      [](const Variable& input, const Variable& label, const Text& name) { return layers::bpr_loss(input, label, name); },
      py::arg("input"), py::arg("label"), py::arg("name") = none);
  m.def("cos_sim", &layers::cos_sim, py::arg("X"), py::arg("Y"));
}

}  // namespace

void bind_layers_objective(py::module_& m) {
  const auto none = py::none();
  bind_pointwise(m);
  bind_ranking(m);
  m.def("nce", &nce, py::arg("input"), py::arg("label"), py::arg("num_total_classes"), py::arg("sample_weight") = none,
        py::arg("param_attr") = none, py::arg("bias_attr") = none, py::arg("num_neg_samples") = none, py::arg("name") = none,
        py::arg("sampler") = "uniform", py::arg("custom_dist") = none, py::arg("seed") = 0, py::arg("is_sparse") = false);
  m.def("sampled_softmax_with_cross_entropy", &sampled_softmax, py::arg("logits"), py::arg("label"), py::arg("num_samples"),
        py::arg("num_true") = 1, py::arg("remove_accidental_hits") = true, py::arg("use_customized_samples") = false,
        py::arg("customized_samples") = none, py::arg("customized_probabilities") = none, py::arg("seed") = 0);
}

}  // namespace argosy::python
