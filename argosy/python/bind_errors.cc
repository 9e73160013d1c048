#include <pybind11/gil_safe_call_once.h>
#include <pybind11/pybind11.h>

#include "argosy/base/error.h"
#include "argosy/python/bindings.h"

namespace argosy::python {

namespace py = pybind11;

// An Error of C++ becomes the class of argosy.errors that has its code.
void bind_errors(py::module_&) {
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> by_code;
  by_code.call_once_and_store_result([] { return py::module_::import("argosy.errors").attr("BY_CODE"); });
  py::register_exception_translator([](std::exception_ptr pointer) {
    if (pointer == nullptr) return;
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      const py::object type = by_code.get_stored()[py::int_(static_cast<int>(error.code()))];
      PyErr_SetString(type.ptr(), error.what());
    }
  });
}

}  // namespace argosy::python
