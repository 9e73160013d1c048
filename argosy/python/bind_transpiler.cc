#include "argosy/fleet/transpiler.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

namespace argosy::python {

using fleet::DistributeTranspiler;

namespace {

void transpile(DistributeTranspiler& transpiler, int trainer_id, std::shared_ptr<graph::Program> program,
               const std::string& servers, int trainers, std::shared_ptr<graph::Program> startup, const std::string& endpoint,
               const fleet::Strategy& strategy) {
  transpiler.transpile({.trainer_id = trainer_id,
                        .program = std::move(program),
                        .pservers = servers,
                        .trainers = trainers,
                        .startup_program = std::move(startup),
                        .current_endpoint = endpoint,
                        .strategy = strategy});
}

}  // namespace

// Never destroyed: a worker whose script ended by an exception must not say goodbye, as its destructor would.
void bind_transpiler(py::module_& m) {
  py::class_<DistributeTranspiler, std::unique_ptr<DistributeTranspiler, py::nodelete>>(
      m, "DistributeTranspiler", "Turns a program that trains on one machine into a worker's or a server's.")
      .def(py::init<>())
      .def("transpile", &transpile, py::arg("trainer_id"), py::arg("program"), py::arg("pservers"), py::arg("trainers"),
           py::arg("startup_program"), py::arg("current_endpoint"), py::arg("strategy"))
      .def("describe", [](const DistributeTranspiler& t) { return t.job().plan().text(); })
      .def("worker", [](const DistributeTranspiler& t) { return t.job().worker(); })
      .def("get_trainer_program", &DistributeTranspiler::get_trainer_program)
      .def("get_pserver_program", &DistributeTranspiler::get_pserver_program, py::arg("endpoint"))
      .def("get_startup_program", &DistributeTranspiler::get_startup_program, py::arg("endpoint"));
}

}  // namespace argosy::python
