#include "argosy/python/casters.h"

#include <unordered_map>

#include "argosy/base/text.h"

namespace argosy::python {
namespace {

using graph::DType;
using graph::Variable;

// The live Python-side handles by variable. Guarded by the GIL. A handle keeps its program and so its variable alive: an entry
// whose handle lives is never of another variable.
std::unordered_map<const graph::VarDesc*, std::weak_ptr<Variable>>& live_handles() {
  static auto& handles = *new std::unordered_map<const graph::VarDesc*, std::weak_ptr<Variable>>;
  return handles;
}

std::shared_ptr<Variable> make_handle(const Variable& variable) {
  const auto forget = [](auto* handle) {
    const auto found = live_handles().find(&handle->desc());
    if (found != live_handles().end() && found->second.expired()) live_handles().erase(found);
    delete handle;
  };
  if (variable.desc().is_parameter()) return std::shared_ptr<Parameter>(new Parameter(variable), forget);
  return std::shared_ptr<Variable>(new Variable(variable), forget);
}

std::optional<std::string> text_attribute(py::handle value, const char* name) {
  const py::object found = py::getattr(value, name, py::none());
  if (!py::isinstance<py::str>(found)) return std::nullopt;
  return found.cast<std::string>();
}

// The name of what may stand for a dtype: "float32" of numpy.float32 and numpy.dtype, Python's own three types.
std::optional<std::string> dtype_text(py::handle value) {
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (value.is(py::handle(reinterpret_cast<PyObject*>(&PyFloat_Type)))) return "float64";
  if (value.is(py::handle(reinterpret_cast<PyObject*>(&PyLong_Type)))) return "int64";
  if (value.is(py::handle(reinterpret_cast<PyObject*>(&PyBool_Type)))) return "bool";
  if (PyType_Check(value.ptr())) return text_attribute(value, "__name__");
  return text_attribute(value, "name");
}

template <typename T>
std::vector<T> list_of(py::handle values) {
  std::vector<T> result;
  for (py::handle item : values) result.push_back(item.cast<T>());
  return result;
}

graph::Attribute list_attribute(const std::string& name, py::handle values) {
  bool all_bool = true, all_int = true, all_number = true, all_text = true, narrow = true;
  for (py::handle item : values) {
    const bool is_bool = py::isinstance<py::bool_>(item), is_int = PyIndex_Check(item.ptr()) != 0;
    all_bool &= is_bool;
    all_int &= is_int && !is_bool;
    all_number &= is_int || PyNumber_Check(item.ptr()) != 0;
    all_text &= py::isinstance<py::str>(item);
    if (is_int) narrow &= std::in_range<int32_t>(py::int_(py::reinterpret_borrow<py::object>(item)).cast<int64_t>());
  }
  if (py::len(values) == 0) return std::vector<int32_t>();
  if (all_bool) return list_of<bool>(values);
  if (all_int && narrow) return list_of<int32_t>(values);
  if (all_int) return list_of<int64_t>(values);
  if (all_text) return list_of<std::string>(values);
  if (all_number) return list_of<float>(values);
  throw Error(
      Status::invalid_argument("attribute '{}' is a list of mixed things: {}", name, py::str(values).cast<std::string>()));
}

}  // namespace

std::string type_name(py::handle value) { return Py_TYPE(value.ptr())->tp_name; }

py::object variable_object(const Variable& variable) {
  if (!variable) return py::none();
  std::weak_ptr<Variable>& known = live_handles()[&variable.desc()];
  std::shared_ptr<Variable> handle = known.lock();
  if (handle == nullptr) known = handle = make_handle(variable);
  if (variable.desc().is_parameter()) return py::cast(std::static_pointer_cast<Parameter>(handle));
  return py::cast(handle);
}

DType dtype_from_python(py::handle value) {
  if (!py::isinstance<py::bool_>(value) && py::isinstance<py::int_>(value)) {
    if (const auto known = graph::dtype_from_number(value.cast<int>())) return *known;
  } else if (const auto text = dtype_text(value)) {
    if (*text == "int") return DType::int64;  // as NumPy has it
    if (const auto known = graph::parse_dtype(*text)) return *known;
  }
  throw Error(Status::invalid_argument("{} is not a dtype; expected one such as 'float32' or 'int64'",
                                       py::repr(value).cast<std::string>()));
}

py::object dtype_object(DType dtype) {
  return py::module_::import("argosy.fluid.var_type").attr("VarType")(static_cast<int>(dtype));
}

graph::ParamAttr param_attr_from_python(py::handle value) {
  if (value.is_none() || value.is(py::handle(Py_True))) return {};
  if (value.is(py::handle(Py_False))) return graph::ParamAttr::none();
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (py::isinstance<graph::ParamAttr>(value)) return *value.cast<graph::ParamAttr*>();
  if (py::isinstance<graph::Initializer>(value)) return value.cast<graph::Initializer>();
  if (py::isinstance<optim::Regularization>(value)) {
    graph::ParamAttr attr;
    attr.regularizer = value.cast<optim::Regularization>();
    return attr;
  }
  throw Error(Status::invalid_argument(
      "a parameter's attribute is None, False, a name, a ParamAttr, an initializer or a regularizer; found {}",
      type_name(value)));
}

std::vector<int64_t> shape_from_python(py::handle value) {
  const auto size_of = [&](py::handle item) {
    if (PyIndex_Check(item.ptr()) == 0 || py::isinstance<py::bool_>(item)) {
      throw Error(Status::invalid_argument("a shape is a list of integers; found {}", py::repr(value).cast<std::string>()));
    }
    return py::int_(py::reinterpret_steal<py::object>(PyNumber_Index(item.ptr()))).cast<int64_t>();
  };
  if (PyIndex_Check(value.ptr()) != 0) return {size_of(value)};
  std::vector<int64_t> shape;
  if (PySequence_Check(value.ptr()) == 0 || py::isinstance<py::str>(value)) size_of(value);
  for (py::handle item : value) shape.push_back(size_of(item));
  return shape;
}

layers::Number number_from_python(py::handle value) {
  if (py::isinstance<Variable>(value)) return value.cast<Variable>();
  return shape_from_python(value).at(0);
}

layers::Real real_from_python(py::handle value) {
  if (py::isinstance<Variable>(value)) return value.cast<Variable>();
  return value.cast<double>();
}

layers::Numbers numbers_from_python(py::handle value) {
  if (py::isinstance<Variable>(value)) return value.cast<Variable>();
  if (!py::isinstance<py::list>(value) && !py::isinstance<py::tuple>(value)) return shape_from_python(value);
  std::vector<layers::Number> items;
  for (py::handle item : value) items.push_back(number_from_python(item));
  return items;
}

py::tuple shape_object(const std::vector<int64_t>& shape) {
  py::tuple result(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) result[i] = shape[i];
  return result;
}

graph::Attribute attribute_from_python(const std::string& name, py::handle value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (PyIndex_Check(value.ptr()) != 0) {
    const int64_t number = py::int_(py::reinterpret_borrow<py::object>(value)).cast<int64_t>();
    return std::in_range<int32_t>(number) ? graph::Attribute(static_cast<int32_t>(number)) : graph::Attribute(number);
  }
  if (PySequence_Check(value.ptr()) != 0 && py::hasattr(value, "__iter__")) return list_attribute(name, value);
  if (PyNumber_Check(value.ptr()) != 0) return py::float_(py::reinterpret_borrow<py::object>(value)).cast<float>();
  throw Error(Status::invalid_argument("attribute '{}' cannot be a {}", name, type_name(value)));
}

py::object attribute_object(const graph::Attribute& value) {
  return std::visit(
      []<typename T>(const T& held) -> py::object {
        if constexpr (std::is_same_v<T, graph::BlockRef>) {
          return py::cast(held.index);
        } else if constexpr (std::is_same_v<T, std::vector<graph::BlockRef>>) {
          std::vector<int32_t> indices;
          for (const graph::BlockRef& block : held) indices.push_back(block.index);
          return py::cast(indices);
        } else {
          return py::cast(held);
        }
      },
      value);
}

}  // namespace argosy::python
