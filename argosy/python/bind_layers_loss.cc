#include <fmt/core.h>

#include "argosy/graph/layers/loss.h"
#include "argosy/graph/layers/metric.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

// Losses and metrics: the arguments as fluid.layers has them.
namespace argosy::python {

using graph::Variable;

namespace {

void bind_losses(py::module_& m) {
  m.def(
      "cross_entropy",
      [](const Variable& input, const Variable& label, bool soft_label, int32_t ignore_index) {
        return layers::cross_entropy(input, label, {.soft_label = soft_label, .ignore_index = ignore_index});
      },
      py::arg("input"), py::arg("label"), py::arg("soft_label") = false, py::arg("ignore_index") = -100,
      R"(-log of the probability of the label, [batch, 1]; with soft_label of a distribution over the classes.

    >>> guess, label = fluid.data("guess", [None, 10]), fluid.data("label", [None, 1], "int64")
    >>> fluid.layers.cross_entropy(guess, label).shape
    (-1, 1)
    )");
}

// As Paddle does, also where the numbers of a float label could be taken as classes.
void check_label(const char* function, const Variable& label) {
  if (label.dtype() == graph::DType::int64 || label.dtype() == graph::DType::int32) return;
  throw py::type_error(
      fmt::format("{}() argument 'label' must be int64 or int32, not {}: variable '{}' (cast it, or declare it so)", function,
                  graph::dtype_name(label.dtype()), label.name()));
}

void bind_metric_layers(py::module_& m) {
  m.def(
      "accuracy",
      [](const Variable& input, const Variable& label, int32_t k, const VariableOrNone& correct, const VariableOrNone& total) {
        check_label("accuracy", label);
        return layers::accuracy(input, label, {.k = k, .correct = correct, .total = total});
      },
      py::arg("input"), py::arg("label"), py::arg("k") = 1, py::arg("correct") = py::none(), py::arg("total") = py::none(),
      R"(The part of the samples whose label is among the k largest scores, one float.

    >>> scores, label = fluid.data("scores", [None, 10]), fluid.data("label", [None, 1], "int64")
    >>> share = fluid.layers.accuracy(scores, label)
    )");
  m.def(
      "auc",
      [](const Variable& input, const Variable& label, const std::string& curve, int32_t num_thresholds, int32_t topk,
         int32_t slide_steps) {
        check_label("auc", label);
        if (topk != 1) throw Error(Status::invalid_argument("auc: topk is {}; only 1 has a meaning", topk));
        const auto auc =
            layers::auc(input, label, {.curve = curve, .num_thresholds = num_thresholds, .slide_steps = slide_steps});
        return py::make_tuple(auc.value, auc.batch_value, auc.states);
      },
      py::arg("input"), py::arg("label"), py::arg("curve") = "ROC", py::arg("num_thresholds") = 4095, py::arg("topk") = 1,
      py::arg("slide_steps") = 1,
      R"(The area under the curve of a binary classifier: (over all batches, over the last slide_steps, [the counts behind them]).

    >>> scores, label = fluid.data("scores", [None, 2]), fluid.data("label", [None, 1], "int64")
    >>> over_all, of_the_batch, counts = fluid.layers.auc(scores, label)
    )");
}

}  // namespace

void bind_layers_loss(py::module_& m) {
  bind_losses(m);
  bind_metric_layers(m);
}

}  // namespace argosy::python
