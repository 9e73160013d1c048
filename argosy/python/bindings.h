#pragma once

#include <pybind11/pybind11.h>

// The parts of the extension module `argosy._core`: one function for each room, called once by core.cc in this order.
//
// A layer function that is one operator comes from the operator's entry (bind_functions.cc); others are bound in
// bind_layers_<group>.cc into the submodule `layers`, under the name and with the argument names and defaults of fluid.layers;
// argosy.fluid.layers finds all of them there by itself.
//
// The extension runs without torch's Python package: programs hand buffers to Python, and no torch tensor. Only what
// bind_collective.cc, bind_rules.cc and bind_functions.cc do with tensors needs it, and is called by what has loaded it.
namespace argosy::python {

void bind_errors(pybind11::module_& m);
void bind_optim(pybind11::module_& m);
void bind_rules(pybind11::module_& m);
void bind_variable(pybind11::module_& m);
void bind_operators(pybind11::module_& m);
void bind_parameter(pybind11::module_& m);
void bind_program(pybind11::module_& m);
void bind_build(pybind11::module_& m);
void bind_engine(pybind11::module_& m);
void bind_io(pybind11::module_& m);
void bind_serve(pybind11::module_& m);
void bind_metrics(pybind11::module_& m);
void bind_data(pybind11::module_& m);
void bind_fleet(pybind11::module_& m);
void bind_streams(pybind11::module_& m);
void bind_transpiler(pybind11::module_& m);
void bind_collective(pybind11::module_& m);

// The functions of the operators' entries for `module`, "fluid.layers" or another of graph::FunctionSchema; under the same names
// in `on_tensors` on torch's tensors.
void bind_functions(pybind11::module_& functions, pybind11::module_& on_tensors, const char* module);

void bind_layers_control(pybind11::module_& layers);
void bind_layers_nn(pybind11::module_& layers);
void bind_layers_image(pybind11::module_& layers);
void bind_layers_math(pybind11::module_& layers);
void bind_layers_tensor(pybind11::module_& layers);
void bind_layers_loss(pybind11::module_& layers);
void bind_layers_objective(pybind11::module_& layers);
void bind_layers_lod(pybind11::module_& layers);
void bind_layers_recurrent(pybind11::module_& layers);
void bind_layers_feature(pybind11::module_& layers);

}  // namespace argosy::python
