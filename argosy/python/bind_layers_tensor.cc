#include <pybind11/numpy.h>

#include "argosy/graph/layers/fill.h"
#include "argosy/graph/layers/shape.h"
#include "argosy/graph/layers/tensor.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

// Shapes, joins, indexing and new variables: the arguments as fluid.layers has them.
namespace argosy::python {

using graph::DType;
using graph::ParamAttr;
using graph::Variable;
using layers::Number;
using layers::Numbers;
using layers::Real;

namespace {

void bind_shapes(py::module_& m) {
  m.def(
      "reshape",
      [](const Variable& x, const Numbers& shape, const VariableOrNone& actual_shape, const Text& act, bool inplace,
         const Text& name) {
        return layers::reshape(x, shape, {.actual_shape = actual_shape, .act = act, .inplace = inplace, .name = name});
      },
      py::arg("x"), py::arg("shape"), py::arg("actual_shape") = py::none(), py::arg("act") = py::none(),
      py::arg("inplace") = false, py::arg("name") = py::none(),
      R"(x in another shape: one -1 is what is left, 0 is x's own size there.

    >>> x = fluid.data("x", [None, 4])
    >>> fluid.layers.reshape(x, [-1, 2, 2]).shape
    (-1, 2, 2)
    )");
  m.def(
      "unsqueeze",
      [](const Variable& input, const Numbers& axes, const Text& name) { return layers::unsqueeze(input, axes, name); },
      py::arg("input"), py::arg("axes"), py::arg("name") = py::none(), R"(x with new dimensions of size 1 at these places.

    >>> x = fluid.data("x", [None, 4])
    >>> fluid.layers.unsqueeze(x, [1]).shape
    (-1, 1, 4)
    )");
  m.def(
      "expand",
      [](const Variable& x, const Numbers& expand_times, const Text& name) { return layers::expand(x, expand_times, name); },
      py::arg("x"), py::arg("expand_times"), py::arg("name") = py::none(), R"(x repeated expand_times[i] times along axis i.

    >>> fluid.Executor().run(fetch_list=[fluid.layers.expand(fluid.layers.ones([1, 2], "float32"), [2, 1])])[0].tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    )");
}

void bind_joins(py::module_& m) {
  m.def(
      "unstack",
      [](const Variable& x, int32_t axis, std::optional<int32_t> num) { return layers::unstack(x, axis, num.value_or(0)); },
      py::arg("x"), py::arg("axis") = 0, py::arg("num") = py::none(), R"(The parts of x along an axis, which they no longer have.

    >>> x = fluid.data("x", [2, 3])
    >>> [part.shape for part in fluid.layers.unstack(x)]
    [(3,), (3,)]
    )");
  m.def(
      "split",
      [](const Variable& input, const py::object& parts, const Number& dim, const Text& name) {
        if (py::isinstance<py::int_>(parts)) return layers::split(input, parts.cast<int32_t>(), dim, name);
        return layers::split(input, numbers_from_python(parts), dim, name);
      },
      py::arg("input"), py::arg("num_or_sections"), py::arg("dim") = -1, py::arg("name") = py::none(),
      R"(x cut along an axis into so many equal parts, or parts of these sizes.

    >>> x = fluid.data("x", [None, 4])
    >>> left, right = fluid.layers.split(x, 2, dim=1)
    >>> right.shape
    (-1, 2)
    )");
  m.def(
      "slice",
      [](const Variable& input, const Axes& axes, const Numbers& starts, const Numbers& ends) {
        return layers::slice(input, axes, starts, ends);
      },
      py::arg("input"), py::arg("axes"), py::arg("starts"), py::arg("ends"),
      R"(The part from starts to ends along the axes; negative ones count from the end.

    >>> x = fluid.data("x", [None, 4])
    >>> fluid.layers.slice(x, axes=[1], starts=[1], ends=[3]).shape
    (-1, 2)
    )");
  m.def(
      "strided_slice",
      [](const Variable& input, const Axes& axes, const Numbers& starts, const Numbers& ends, const Numbers& strides) {
        return layers::strided_slice(input, axes, starts, ends, strides);
      },
      py::arg("input"), py::arg("axes"), py::arg("starts"), py::arg("ends"), py::arg("strides"),
      R"(As slice, every strides[i]-th element; negative strides go backwards.

    >>> x = fluid.data("x", [None, 4])
    >>> fluid.layers.strided_slice(x, [1], [0], [4], [2]).shape
    (-1, 2)
    )");
}

void bind_indexing(py::module_& m) {
  m.def(
      "where", [](const Variable& condition) { return layers::where(condition); }, py::arg("condition"),
      R"(x where the condition is true and y elsewhere; of a condition alone the positions of what is true.

    >>> x = fluid.layers.ones([2], "float32")
    >>> fluid.Executor().run(fetch_list=[fluid.layers.where(x > x, x, x + x)])[0].tolist()
    [2.0, 2.0]
    )");
  m.def(
      "where", [](const Variable& condition, const Variable& x, const Variable& y) { return layers::where(condition, x, y); },
      py::arg("condition"), py::arg("x"), py::arg("y"));
}

// Values of a NumPy array, or of a list, as the alternative of assign() that holds their type.
Variable assign_values(const py::object& input, const VariableOrNone& output) {
  const auto array = py::module_::import("numpy").attr("ascontiguousarray")(input).cast<py::array>();
  const std::vector<int64_t> shape(array.shape(), array.shape() + array.ndim());
  const auto flat = array.attr("ravel")();
  switch (array.dtype().kind()) {
    case 'b': return layers::assign(flat.cast<std::vector<bool>>(), shape, output);
    case 'f': return layers::assign(flat.cast<std::vector<float>>(), shape, output);
    case 'i':
      if (array.itemsize() == 8) return layers::assign(flat.cast<std::vector<int64_t>>(), shape, output);
      return layers::assign(flat.cast<std::vector<int32_t>>(), shape, output);
    default: break;
  }
  throw Error(Status::invalid_argument("assign takes a variable or an array of bool, int or float; found dtype {}",
                                       py::str(array.dtype()).cast<std::string>()));
}

void bind_fills(py::module_& m) {
  m.def(
      "fill_constant",
      [](const Numbers& shape, DType dtype, const py::object& value, bool force_cpu, const VariableOrNone& out) {
        const layers::FillOptions options{.force_cpu = force_cpu, .out = out};
        if (py::isinstance<Variable>(value)) return layers::fill_constant(shape, dtype, value.cast<Variable>(), options);
        return layers::fill_constant(shape, dtype, value.cast<double>(), options);
      },
      py::arg("shape"), py::arg("dtype"), py::arg("value"), py::arg("force_cpu") = false, py::arg("out") = py::none(),
      R"(A variable of that shape with one value everywhere.

    >>> fluid.Executor().run(fetch_list=[fluid.layers.fill_constant([2], "float32", 1.5)])[0].tolist()
    [1.5, 1.5]
    )");
  m.def(
      "zeros", [](const Numbers& shape, DType dtype, bool force_cpu) { return layers::zeros(shape, dtype, force_cpu); },
      py::arg("shape"), py::arg("dtype"), py::arg("force_cpu") = false, R"(A variable of that shape with zeros.

    >>> fluid.Executor().run(fetch_list=[fluid.layers.zeros([2], "float32")])[0].tolist()
    [0.0, 0.0]
    )");
  m.def(
      "ones", [](const Numbers& shape, DType dtype, bool force_cpu) { return layers::ones(shape, dtype, force_cpu); },
      py::arg("shape"), py::arg("dtype"), py::arg("force_cpu") = false, R"(A variable of that shape with ones.

    >>> fluid.Executor().run(fetch_list=[fluid.layers.ones([2], "int64")])[0].tolist()
    [1, 1]
    )");
  m.def(
      "zeros_like", [](const Variable& x, const VariableOrNone& out) { return layers::zeros_like(x, out); }, py::arg("x"),
      py::arg("out") = py::none(), R"(Zeros in the shape of x.

    >>> x = fluid.data("x", [None, 4])
    >>> y = fluid.layers.zeros_like(x)
    )");
  m.def(
      "ones_like", [](const Variable& x, const VariableOrNone& out) { return layers::ones_like(x, out); }, py::arg("x"),
      py::arg("out") = py::none(), R"(Ones in the shape of x.

    >>> x = fluid.data("x", [None, 4])
    >>> y = fluid.layers.ones_like(x)
    )");
  m.def(
      "fill_constant_batch_size_like",
      [](const Variable& input, const py::object& shape, DType dtype, double value, int32_t input_dim_idx, int32_t output_dim_idx,
         bool force_cpu) {
        return layers::fill_constant_batch_size_like(
            input, shape_from_python(shape), dtype, value,
            {.input_dim_idx = input_dim_idx, .output_dim_idx = output_dim_idx, .force_cpu = force_cpu});
      },
      py::arg("input"), py::arg("shape"), py::arg("dtype"), py::arg("value"), py::arg("input_dim_idx") = 0,
      py::arg("output_dim_idx") = 0, py::arg("force_cpu") = false,
      R"(The same, with one dimension taken from `input`: the batch's, for one.

    >>> x = fluid.data("x", [None, 4])
    >>> fluid.layers.fill_constant_batch_size_like(x, [1, 2], "float32", 0.0).shape
    (-1, 2)
    )");
}

void bind_random_numbers(py::module_& m) {
  m.def(
      "uniform_random",
      [](const Numbers& shape, DType dtype, float min, float max, int32_t seed) {
        return layers::uniform_random(shape, {.dtype = dtype, .min = min, .max = max, .seed = seed});
      },
      py::arg("shape"), py::arg("dtype") = "float32", py::arg("min") = -1.0f, py::arg("max") = 1.0f, py::arg("seed") = 0,
      R"(Random numbers from min to max, new ones in every run.

    >>> noise = fluid.layers.uniform_random([2, 3], min=0.0, max=1.0)
    )");
  m.def(
      "uniform_random_batch_size_like",
      [](const Variable& input, const py::object& shape, DType dtype, int32_t input_dim_idx, int32_t output_dim_idx, float min,
         float max, int32_t seed) {
        return layers::uniform_random_batch_size_like(input, shape_from_python(shape),
                                                      {.dtype = dtype, .min = min, .max = max, .seed = seed},
                                                      {.input_dim_idx = input_dim_idx, .output_dim_idx = output_dim_idx});
      },
      py::arg("input"), py::arg("shape"), py::arg("dtype") = "float32", py::arg("input_dim_idx") = 0,
      py::arg("output_dim_idx") = 0, py::arg("min") = -1.0f, py::arg("max") = 1.0f, py::arg("seed") = 0,
      R"(The same, with one dimension taken from `input`: the batch's, for one.

    >>> x = fluid.data("x", [None, 4])
    >>> fluid.layers.uniform_random_batch_size_like(x, [-1, 2]).shape
    (-1, 2)
    )");
  m.def(
      "gaussian_random",
      [](const Numbers& shape, float mean, float std, int32_t seed, DType dtype) {
        return layers::gaussian_random(shape, {.mean = mean, .std = std, .seed = seed, .dtype = dtype});
      },
      py::arg("shape"), py::arg("mean") = 0.0f, py::arg("std") = 1.0f, py::arg("seed") = 0, py::arg("dtype") = "float32",
      R"(Normal random numbers, new ones in every run.

    >>> noise = fluid.layers.gaussian_random([2, 3], std=0.1)
    )");
}

void bind_assign(py::module_& m) {
  m.def(
      "assign", [](const Variable& input, const VariableOrNone& output) { return layers::assign(input, output); },
      py::arg("input"), py::arg("output") = py::none(),
      R"(A copy of a variable, or an array or a list of numbers as a variable; written to `output` where one is given.

    >>> fluid.Executor().run(fetch_list=[fluid.layers.assign(np.array([1.0, 2.0], "float32"))])[0].tolist()
    [1.0, 2.0]
    )");
  m.def("assign", &assign_values, py::arg("input"), py::arg("output") = py::none());
}

void bind_sequences_of_numbers(py::module_& m) {
  m.def(
      "range",
      [](const Real& start, const Real& end, const Real& step, DType dtype) { return layers::range(start, end, step, dtype); },
      py::arg("start"), py::arg("end"), py::arg("step"), py::arg("dtype"), R"(The numbers from start up to, but without, end.

    >>> fluid.Executor().run(fetch_list=[fluid.layers.range(0, 6, 2, "int64")])[0].tolist()
    [0, 2, 4]
    )");
  m.def(
      "linspace",
      [](const Real& start, const Real& stop, const Number& num, DType dtype) {
        return layers::linspace(start, stop, num, dtype);
      },
      py::arg("start"), py::arg("stop"), py::arg("num"), py::arg("dtype"), R"(num numbers from start to stop, at equal distances.

    >>> fluid.Executor().run(fetch_list=[fluid.layers.linspace(0.0, 1.0, 3, "float32")])[0].tolist()
    [0.0, 0.5, 1.0]
    )");
}

void bind_variables(py::module_& m) {
  m.def(
      "create_parameter",
      [](const py::object& shape, DType dtype, const Text& name, const py::object& attr, bool is_bias,
         const py::object& initializer) {
        layers::CreateParameterOptions options{.name = name, .is_bias = is_bias};
        if (!attr.is_none()) options.attr = param_attr_from_python(attr);
        if (!initializer.is_none()) options.default_initializer = param_attr_from_python(initializer).initializer;
        return layers::create_parameter(shape_from_python(shape), dtype, options);
      },
      py::arg("shape"), py::arg("dtype"), py::arg("name") = py::none(), py::arg("attr") = py::none(), py::arg("is_bias") = false,
      py::arg("default_initializer") = py::none(),
      R"(A parameter of that shape; default_initializer gives its first values where attr has none.

    >>> weights = fluid.layers.create_parameter([4, 2], "float32", name="weights")
    )");
  m.def(
      "create_global_var",
      [](const py::object& shape, double value, DType dtype, bool persistable, bool force_cpu, const Text& name) {
        return layers::create_global_var(shape_from_python(shape), value, dtype,
                                         {.persistable = persistable, .force_cpu = force_cpu, .name = name});
      },
      py::arg("shape"), py::arg("value"), py::arg("dtype"), py::arg("persistable") = false, py::arg("force_cpu") = false,
      py::arg("name") = py::none(),
      R"(A variable with a value that the startup program gives it; persistable ones are saved with the model.

    >>> counter = fluid.layers.create_global_var([1], 0.0, "float32", persistable=True, name="counter")
    )");
  m.def(
      "create_tensor",
      [](DType dtype, const Text& name, bool persistable) { return layers::create_tensor(dtype, name, persistable); },
      py::arg("dtype"), py::arg("name") = py::none(), py::arg("persistable") = false,
      R"(A variable without a value, for a function to write to.

    >>> target = fluid.layers.create_tensor("float32")
    >>> out = fluid.layers.assign(fluid.layers.ones([2], "float32"), target)
    )");
  m.def(
      "autoincreased_step_counter",
      [](const py::object& counter_name, int64_t begin, int64_t step) {
        if (counter_name.is_none()) return layers::autoincreased_step_counter("@STEP_COUNTER@", begin, step);
        return layers::autoincreased_step_counter(counter_name.cast<std::string>(), begin, step);
      },
      py::arg("counter_name") = py::none(), py::arg("begin") = 1, py::arg("step") = 1,
      R"(An int64 that begins with `begin` and grows by `step` in every run.

    >>> counter = fluid.layers.autoincreased_step_counter()
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> [exe.run(fetch_list=[counter])[0].item() for _ in range(2)]
    [1, 2]
    )");
}

}  // namespace

void bind_layers_tensor(py::module_& m) {
  bind_shapes(m);
  bind_joins(m);
  bind_indexing(m);
  bind_fills(m);
  bind_random_numbers(m);
  bind_assign(m);
  bind_sequences_of_numbers(m);
  bind_variables(m);
}

}  // namespace argosy::python
