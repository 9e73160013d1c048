#include "argosy/fleet/fleet.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

namespace argosy::python {

using fleet::Fleet;
using fleet::Role;
using fleet::RoleInfo;

void bind_fleet(py::module_& m) {
  py::enum_<Role>(m, "Role").value("WORKER", Role::worker).value("SERVER", Role::server);
  py::class_<RoleInfo>(m, "RoleInfo", "Who this process is in its job, and who the others are.")
      .def_readonly("role", &RoleInfo::role)
      .def_readonly("index", &RoleInfo::index)
      .def_readonly("worker_count", &RoleInfo::worker_count)
      .def_readonly("server_endpoints", &RoleInfo::server_endpoints)
      .def_readonly("worker_endpoints", &RoleInfo::worker_endpoints);
  m.def("paddle_cloud_role", [] { return value_or_throw(fleet::paddle_cloud_role()); });
  m.def(
      "mpi_symmetric_role", [] { return value_or_throw(fleet::mpi_symmetric_role()); }, py::call_guard<py::gil_scoped_release>());
  m.def(
      "user_defined_role",
      [](int current_id, Role role, int worker_num, std::vector<std::string> servers, std::vector<std::string> workers) {
        return value_or_throw(fleet::user_defined_role(current_id, role, worker_num, std::move(servers), std::move(workers)));
      },
      py::arg("current_id"), py::arg("role"), py::arg("worker_num"), py::arg("server_endpoints"), py::arg("worker_endpoints"));
  py::class_<Fleet>(m, "Fleet", "A process's place in its job.")
      .def(py::init<>())
      .def("init", &Fleet::init, py::arg("role"))
      .def("is_first_worker", &Fleet::is_first_worker)
      .def("is_worker", &Fleet::is_worker)
      .def("is_server", &Fleet::is_server)
      .def("worker_index", &Fleet::worker_index)
      .def("server_index", &Fleet::server_index)
      .def("worker_num", &Fleet::worker_num)
      .def("server_num", &Fleet::server_num)
      .def("worker_endpoints", &Fleet::worker_endpoints)
      .def("server_endpoints", &Fleet::server_endpoints)
      .def(
          "get_file_shard",
          [](const Fleet& self, const std::vector<std::string>& files) { return self.util().get_file_shard(files); },
          py::arg("files"));
  m.def("fleet", &fleet::fleet, py::return_value_policy::reference, "The one of this process.");
}

}  // namespace argosy::python
