#include <pybind11/numpy.h>

#include "argosy/engine/train/evaluation_metrics.h"
#include "argosy/engine/train/training_metrics.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

namespace argosy::python {
namespace {

using namespace engine;
using Floats = py::array_t<float, py::array::c_style | py::array::forcecast>;
using Integers = py::array_t<int64_t, py::array::c_style | py::array::forcecast>;

template <typename Array>
auto span_of(const Array& array) {
  return std::span(array.data(), static_cast<size_t>(array.size()));
}

void check_sizes(py::ssize_t predictions, py::ssize_t labels) {
  if (predictions != labels)
    throw Error(Status::invalid_argument("{} predictions but {} labels; there must be one for each", predictions, labels));
}

template <typename Metric, typename Labels>
void update(Metric& metric, const Floats& predictions, const Labels& labels) {
  check_sizes(predictions.size(), labels.size());
  const py::gil_scoped_release release;
  if constexpr (std::is_same_v<Metric, AucMetric>)
    throw_if_error(metric.update(span_of(predictions), span_of(labels)));
  else
    metric.update(span_of(predictions), span_of(labels));
}

template <typename Metric>
py::class_<Metric> bind_classifier(py::module_& m, const char* name) {
  return py::class_<Metric>(m, name)
      .def(py::init<>())
      .def("update", &update<Metric, Integers>, py::arg("predictions"), py::arg("labels"))
      .def("value", &Metric::value)
      .def("reset", &Metric::reset)
      .def("true_positives", &Metric::true_positives);
}

}  // namespace

void bind_metrics(py::module_& m) {
  m.def("is_observed", &training_is_observed, "Whether anybody sees what show_step and show_measure tell.");
  m.def(
      "show_step",
      [](int64_t samples, double seconds, std::optional<double> pass_ratio) {
        count_batch(samples, 0, seconds);
        set_pass_ratio(pass_ratio);
      },
      py::arg("samples"), py::arg("seconds"), py::arg("pass_ratio") = py::none(), "Counts a step that was trained.");
  m.def("show_measure", &set_measure, py::arg("name"), py::arg("value"), "The loss of a step, say.");
  bind_classifier<PrecisionMetric>(m, "PrecisionMetric").def("false_positives", &PrecisionMetric::false_positives);
  bind_classifier<RecallMetric>(m, "RecallMetric").def("false_negatives", &RecallMetric::false_negatives);
  py::class_<AucMetric>(m, "AucMetric")
      .def(py::init<int>(), py::arg("num_thresholds"))
      .def("update", &update<AucMetric, Integers>, py::arg("predictions"), py::arg("labels"))
      .def("value", &AucMetric::value)
      .def("reset", &AucMetric::reset);
  py::class_<MeanMetric>(m, "MeanMetric")
      .def(py::init<>())
      .def("update", &MeanMetric::update, py::arg("value"), py::arg("weight"))
      .def("value", &MeanMetric::value)
      .def("weight", &MeanMetric::weight)
      .def("reset", &MeanMetric::reset);
  py::class_<ErrorMetric>(m, "ErrorMetric")
      .def(py::init<>())
      .def("update", &update<ErrorMetric, Floats>, py::arg("predictions"), py::arg("labels"))
      .def("mean_absolute", &ErrorMetric::mean_absolute)
      .def("root_mean_squared", &ErrorMetric::root_mean_squared)
      .def("count", &ErrorMetric::count)
      .def("reset", &ErrorMetric::reset);
}

}  // namespace argosy::python
