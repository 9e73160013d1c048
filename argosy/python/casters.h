#pragma once

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/error.h"
#include "argosy/graph/dtype.h"
#include "argosy/graph/layer_helper.h"
#include "argosy/graph/layers/types.h"
#include "argosy/graph/variable.h"

// How Python values become C++ ones and back; every file with bindings includes it. A value that cannot be one throws
// argosy::Error with words for the user, which Python sees as a ValueError.
namespace argosy::python {

namespace py = pybind11;

// A variable that is a parameter: a Python class of its own, so that isinstance(v, Parameter) works.
struct Parameter : graph::Variable {
  explicit Parameter(const graph::Variable& variable) : graph::Variable(variable) {}
};

// The Python object of `variable`, the same for the same variable as long as anyone holds it (scripts use variables as keys of
// dicts and compare them with `is`); None for an empty one.
py::object variable_object(const graph::Variable& variable);

// An argument that takes one variable or a list of them.
struct OneOrMore {
  std::vector<graph::Variable> values;
};

// One way to make each parameter of a layer, or one for all of them.
struct ParamAttrs {
  std::vector<graph::ParamAttr> values;
};

// A variable argument that may be None, which is the empty variable.
struct VariableOrNone {
  graph::Variable value;
  operator const graph::Variable&() const { return value; }
  explicit operator bool() const { return static_cast<bool>(value); }
};

// An integer or a list of them, where operators take 32 bits.
struct Axes {
  std::vector<int32_t> values;
  operator const std::vector<int32_t>&() const { return values; }
};

// A string argument that may be None, which is the empty text.
struct Text {
  std::string value;
  operator const std::string&() const { return value; }
};

// A name, a VarType, a number of the wire format, numpy.dtype, numpy.float32, bool, int or float.
graph::DType dtype_from_python(py::handle value);
py::object dtype_object(graph::DType dtype);  // argosy.fluid.core's VarType

// None and True: the default; False: no such parameter; else a name, a ParamAttr, an Initializer or a regularizer.
graph::ParamAttr param_attr_from_python(py::handle value);

// An integer or a sequence of integers, of any kind (numpy's too).
std::vector<int64_t> shape_from_python(py::handle value);
layers::Number number_from_python(py::handle value);    // an integer, or a variable that holds it
layers::Real real_from_python(py::handle value);        // a number, or a variable that holds it
layers::Numbers numbers_from_python(
    py::handle value);  // an integer, a list of integers and variables, or a variable with all of them
py::tuple shape_object(const std::vector<int64_t>& shape);

graph::Attribute attribute_from_python(const std::string& name, py::handle value);
py::object attribute_object(const graph::Attribute& value);

// The Python type's name, for messages.
std::string type_name(py::handle value);

}  // namespace argosy::python

namespace pybind11::detail {

template <>
struct type_caster<argosy::graph::Variable> : type_caster_base<argosy::graph::Variable> {
  static handle cast(const argosy::graph::Variable& variable, return_value_policy, handle) {
    return argosy::python::variable_object(variable).release();
  }
};

template <>
struct type_caster<argosy::graph::ParamAttr> : type_caster_base<argosy::graph::ParamAttr> {
  bool load(handle source, bool convert) {
    if (type_caster_base::load(source, false) && value != nullptr) return true;
    made_ = argosy::python::param_attr_from_python(source);
    value = &made_;
    return true;
  }

 private:
  argosy::graph::ParamAttr made_;
};

template <>
struct type_caster<argosy::graph::DType> {
  PYBIND11_TYPE_CASTER(argosy::graph::DType, const_name("dtype"));
  bool load(handle source, bool) {
    value = argosy::python::dtype_from_python(source);
    return true;
  }
  static handle cast(argosy::graph::DType dtype, return_value_policy, handle) {
    return argosy::python::dtype_object(dtype).release();
  }
};

template <>
struct type_caster<argosy::python::VariableOrNone> {
  PYBIND11_TYPE_CASTER(argosy::python::VariableOrNone, const_name("Variable | None"));
  bool load(handle source, bool convert) {
    if (source.is_none()) return true;
    make_caster<argosy::graph::Variable> one;
    if (!one.load(source, convert)) return false;
    value.value = cast_op<argosy::graph::Variable&>(one);
    return true;
  }
};

template <>
struct type_caster<argosy::python::Axes> {
  PYBIND11_TYPE_CASTER(argosy::python::Axes, const_name("int | list[int]"));
  bool load(handle source, bool) {
    const auto axes = argosy::python::shape_from_python(source);
    value.values.assign(axes.begin(), axes.end());
    return true;
  }
};

// Of the kinds of numbers that layer functions take. They have no empty value, which PYBIND11_TYPE_CASTER wants.
template <typename T, T (*from_python)(handle)>
struct number_caster {
  static constexpr auto name = const_name("int | float | Variable | list");
  template <typename>
  using cast_op_type = const T&;
  operator const T&() const { return *value; }
  bool load(handle source, bool) {
    value.emplace(from_python(source));
    return true;
  }

 private:
  std::optional<T> value;
};
template <>
struct type_caster<argosy::layers::Number> : number_caster<argosy::layers::Number, argosy::python::number_from_python> {};
template <>
struct type_caster<argosy::layers::Real> : number_caster<argosy::layers::Real, argosy::python::real_from_python> {};
template <>
struct type_caster<argosy::layers::Numbers> : number_caster<argosy::layers::Numbers, argosy::python::numbers_from_python> {};

template <>
struct type_caster<argosy::python::Text> {
  PYBIND11_TYPE_CASTER(argosy::python::Text, const_name("str | None"));
  bool load(handle source, bool) {
    if (source.is_none()) return true;
    if (!isinstance<str>(source)) return false;
    value.value = source.cast<std::string>();
    return true;
  }
};

template <>
struct type_caster<argosy::python::OneOrMore> {
  PYBIND11_TYPE_CASTER(argosy::python::OneOrMore, const_name("Variable | list[Variable]"));
  bool load(handle source, bool convert) {
    if (make_caster<argosy::graph::Variable> one; !source.is_none() && one.load(source, convert)) {
      value.values = {cast_op<argosy::graph::Variable&>(one)};
      return true;
    }
    make_caster<std::vector<argosy::graph::Variable>> many;
    if (!many.load(source, convert)) return false;
    value.values = cast_op<std::vector<argosy::graph::Variable>&&>(std::move(many));
    return true;
  }
};

template <>
struct type_caster<argosy::python::ParamAttrs> {
  PYBIND11_TYPE_CASTER(argosy::python::ParamAttrs, const_name("ParamAttr | list[ParamAttr]"));
  bool load(handle source, bool) {
    if (!isinstance<list>(source) && !isinstance<tuple>(source)) {
      value.values = {argosy::python::param_attr_from_python(source)};
      return true;
    }
    for (handle item : source) value.values.push_back(argosy::python::param_attr_from_python(item));
    return true;
  }
};

}  // namespace pybind11::detail
