#include "argosy/optim/optimizer.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

namespace argosy::python {

using optim::GradientClip;
using optim::Optimizer;
using optim::Regularization;
using optim::Schedule;

namespace {

Optimizer make_optimizer(std::string rule, optim::HyperParameters hyper_parameters, double learning_rate,
                         std::optional<Regularization> regularization, std::optional<GradientClip> grad_clip, bool lazy_mode,
                         optim::ParameterFilter has_weight_decay) {
  Optimizer optimizer{.rule = std::move(rule), .hyper_parameters = std::move(hyper_parameters), .learning_rate = learning_rate};
  optimizer.regularization = regularization;
  optimizer.grad_clip = std::move(grad_clip);
  optimizer.lazy_mode = lazy_mode;
  optimizer.has_weight_decay = std::move(has_weight_decay);
  throw_if_error(optimizer.check());
  return optimizer;
}

template <typename T>
T checked(T value) {
  throw_if_error(value.check());
  return value;
}

void bind_clips(py::module_& m) {
  py::class_<Regularization>(m, "Regularization", R"(A penalty on the size of a parameter, added to its gradient.

    >>> isinstance(fluid.regularizer.L2Decay(0.01), fluid.regularizer.WeightDecayRegularizer)
    True
    )")
      .def(py::init<const Regularization&>())
      .def_readonly("coeff", &Regularization::coeff)
      .def_property_readonly("kind", [](const Regularization& r) { return r.kind == Regularization::l1 ? "l1" : "l2"; });
  m.def("l1_decay", [](double coeff) { return checked<Regularization>(optim::L1Decay{coeff}); }, py::arg("regularization_coeff"));
  m.def("l2_decay", [](double coeff) { return checked<Regularization>(optim::L2Decay{coeff}); }, py::arg("regularization_coeff"));

  py::class_<GradientClip>(m, "GradientClip", "A limit on the size of gradients.")
      .def(py::init<const GradientClip&>())
      .def_property_readonly("kind",
                             [](const GradientClip& clip) {
                               return clip.kind == GradientClip::by_value  ? "by_value"
                                      : clip.kind == GradientClip::by_norm ? "by_norm"
                                                                           : "by_global_norm";
                             })
      .def("applies_to", &GradientClip::applies_to, py::arg("parameter"))
      .def_readonly("min", &GradientClip::min)
      .def_readonly("max", &GradientClip::max)
      .def_readonly("clip_norm", &GradientClip::clip_norm)
      .def_readonly("group_name", &GradientClip::group_name);
  m.def(
      "clip_by_value",
      [](double max, std::optional<double> min, optim::ParameterFilter need_clip) {
        return checked<GradientClip>(optim::GradientClipByValue{.max = max, .min = min, .need_clip = std::move(need_clip)});
      },
      py::arg("max"), py::arg("min"), py::arg("need_clip"));
  m.def(
      "clip_by_norm",
      [](double norm, optim::ParameterFilter need_clip) {
        return checked<GradientClip>(optim::GradientClipByNorm{.clip_norm = norm, .need_clip = std::move(need_clip)});
      },
      py::arg("clip_norm"), py::arg("need_clip"));
  m.def(
      "clip_by_global_norm",
      [](double norm, std::string group, optim::ParameterFilter need_clip) {
        return checked<GradientClip>(optim::GradientClipByGlobalNorm{
            .clip_norm = norm, .group_name = std::move(group), .need_clip = std::move(need_clip)});
      },
      py::arg("clip_norm"), py::arg("group_name"), py::arg("need_clip"));
}

void bind_schedules(py::module_& m) {
  py::class_<Schedule>(m, "Schedule", "The learning rate as a function of the number of steps taken so far.")
      .def(py::init([](std::string kind, std::vector<float> floats, std::vector<int64_t> ints) {
             return checked(Schedule{std::move(kind), std::move(floats), std::move(ints)});
           }),
           py::arg("kind"), py::arg("floats"), py::arg("ints"))
      .def_readonly("kind", &Schedule::kind)
      .def_readonly("floats", &Schedule::floats)
      .def_readonly("ints", &Schedule::ints)
      .def("value", &Schedule::value, py::arg("step"));
  m.def("noam_decay", &optim::noam_decay, py::arg("d_model"), py::arg("warmup_steps"), py::arg("learning_rate"));
  m.def("exponential_decay", &optim::exponential_decay, py::arg("learning_rate"), py::arg("decay_steps"), py::arg("decay_rate"),
        py::arg("staircase"));
  m.def("natural_exp_decay", &optim::natural_exp_decay, py::arg("learning_rate"), py::arg("decay_steps"), py::arg("decay_rate"),
        py::arg("staircase"));
  m.def("inverse_time_decay", &optim::inverse_time_decay, py::arg("learning_rate"), py::arg("decay_steps"), py::arg("decay_rate"),
        py::arg("staircase"));
  m.def("polynomial_decay", &optim::polynomial_decay, py::arg("learning_rate"), py::arg("decay_steps"),
        py::arg("end_learning_rate"), py::arg("power"), py::arg("cycle"));
  m.def("piecewise_decay", &optim::piecewise_decay, py::arg("boundaries"), py::arg("values"));
  m.def("cosine_decay", &optim::cosine_decay, py::arg("learning_rate"), py::arg("step_each_epoch"), py::arg("epochs"));
  m.def(
      "linear_lr_warmup",
      [](std::variant<Schedule, double> rate, int64_t warmup_steps, double start_lr, double end_lr) {
        const auto inner = std::visit([](auto& value) { return optim::LearningRate(value); }, rate);
        return optim::linear_lr_warmup(inner, warmup_steps, start_lr, end_lr);
      },
      py::arg("learning_rate"), py::arg("warmup_steps"), py::arg("start_lr"), py::arg("end_lr"));
}

}  // namespace

void bind_optim(py::module_& m) {
  bind_clips(m);
  bind_schedules(m);
  py::class_<Optimizer>(m, "Optimizer", "An update rule with its numbers, learning rate, penalty and clipping.")
      .def(py::init(&make_optimizer), py::arg("rule"), py::arg("hyper_parameters"), py::arg("learning_rate"),
           py::arg("regularization") = py::none(), py::arg("grad_clip") = py::none(), py::arg("lazy_mode") = false,
           py::arg("has_weight_decay") = py::none())
      .def_readonly("rule", &Optimizer::rule);
}

}  // namespace argosy::python
