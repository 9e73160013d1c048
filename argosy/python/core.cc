#include <pybind11/pybind11.h>

#include "argosy/base/error.h"
#include "argosy/base/settings.h"
#include "argosy/python/bindings.h"
#include "argosy/python/interrupt.h"

PYBIND11_MODULE(_core, m) {
  using namespace argosy::python;
  // Here, because a script that has none of a job's parts asks for settings nowhere else: an ImportError that names the variable.
  argosy::throw_if_error(argosy::check_variable_names());
  pybind11::module_::import("argosy._flags").attr("warn_of_unknown")();
  m.doc() = "The C++ core of argosy.";
  install_wait_check();
  bind_errors(m);
  bind_optim(m);
  bind_rules(m);
  bind_parameter(m);
  bind_variable(m);
  bind_operators(m);
  bind_program(m);
  bind_build(m);
  bind_engine(m);
  bind_io(m);
  bind_serve(m);
  bind_metrics(m);
  bind_data(m);
  bind_fleet(m);
  bind_streams(m);
  bind_transpiler(m);
  bind_collective(m);

  auto layers = m.def_submodule("layers", "The layer functions, under fluid.layers' names.");
  auto on_tensors = m.def_submodule("on_tensors", "Layer functions on torch's tensors, with the kernels that programs run.");
  bind_functions(layers, on_tensors, "fluid.layers");
  bind_layers_control(layers);
  bind_layers_nn(layers);
  bind_layers_image(layers);
  bind_layers_math(layers);
  bind_layers_tensor(layers);
  bind_layers_loss(layers);
  bind_layers_objective(layers);
  bind_layers_lod(layers);
  bind_layers_recurrent(layers);
  bind_layers_feature(layers);
}
