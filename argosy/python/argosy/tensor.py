"""The tensor functions of 2.x that exist for both graphs: on variables each adds operators to the default main program, on tensors the
function of the same name in argosy.dynamic computes.
"""
import sys

from argosy import _core
from argosy.dispatch import builds, computing
from argosy.errors import InvalidArgumentError
from argosy.fluid import layers

_LARGEST = 3.4028234663852886e38  # of float32


def _append(op, inputs, outputs, attrs, name, layer=None):
    """Adds an operator and returns its outputs, which are new variables: slot -> element type."""
    block = _core.default_main_program().current_block()
    prefix = name or _core.unique_name(layer or op)
    made = {slot: block.create_var(name=_core.unique_name(f"{prefix}.tmp"), dtype=dtype) for slot, dtype in outputs.items()}
    block.append_op(type=op, inputs=inputs, outputs=made, attrs=attrs)
    return tuple(made.values())


def _unary(name):
    @builds
    def function(x, name=None):
        return getattr(layers, fluid_name)(x, name=name)

    fluid_name = name
    function.__name__ = function.__qualname__ = name
    return function


def _binary(name, fluid_name):
    @builds
    def function(x, y, name=None):
        return getattr(layers, fluid_name)(x, y, name=name)

    function.__name__ = function.__qualname__ = name
    return function


def _comparison(name):
    @builds
    def function(x, y, name=None):
        return getattr(layers, fluid_name)(x, y)

    fluid_name = name
    function.__name__ = function.__qualname__ = name
    return function


def _reduction(name, fluid_name):
    @builds
    def function(x, axis=None, keepdim=False, name=None):
        return getattr(layers, fluid_name)(x, dim=axis, keep_dim=keepdim, name=name)

    function.__name__ = function.__qualname__ = name
    return function


exp, log, sqrt, rsqrt, square, abs, tanh, ceil, floor, round, reciprocal, sin, cos = map(
    _unary, ["exp", "log", "sqrt", "rsqrt", "square", "abs", "tanh", "ceil", "floor", "round", "reciprocal", "sin", "cos"])
less_than, less_equal, greater_than, greater_equal, equal, not_equal = map(
    _comparison, ["less_than", "less_equal", "greater_than", "greater_equal", "equal", "not_equal"])
add = _binary("add", "elementwise_add")
subtract = _binary("subtract", "elementwise_sub")
multiply = _binary("multiply", "elementwise_mul")
divide = _binary("divide", "elementwise_div")
maximum = _binary("maximum", "elementwise_max")
minimum = _binary("minimum", "elementwise_min")
mod = remainder = _binary("mod", "elementwise_mod")
floor_divide = _binary("floor_divide", "elementwise_floordiv")
bmm = _binary("bmm", "bmm")
dot = _binary("dot", "dot")
mean = _reduction("mean", "reduce_mean")
max = _reduction("max", "reduce_max")
min = _reduction("min", "reduce_min")
all = _reduction("all", "reduce_all")
any = _reduction("any", "reduce_any")


@builds
def sum(x, axis=None, dtype=None, keepdim=False, name=None):
    return layers.reduce_sum(x if dtype is None else layers.cast(x, dtype), dim=axis, keep_dim=keepdim, name=name)


@builds
def prod(x, axis=None, keepdim=False, dtype=None, name=None):
    return layers.reduce_prod(x if dtype is None else layers.cast(x, dtype), dim=axis, keep_dim=keepdim, name=name)


@builds
def pow(x, y, name=None):
    """x to the power of a number or a variable."""
    return layers.elementwise_pow(x, y, name=name) if isinstance(y, _core.Variable) else layers.pow(x, factor=y, name=name)


@builds
def erf(x, name=None):
    return layers.erf(x)


@builds
def sign(x, name=None):
    return layers.sign(x)


@builds
def neg(x, name=None):
    return layers.scale(x, scale=-1.0, name=name)


@builds
def matmul(x, y, transpose_x=False, transpose_y=False, name=None):
    return layers.matmul(x, y, transpose_x=transpose_x, transpose_y=transpose_y, name=name)


@builds
def mm(input, mat2, name=None):
    return layers.matmul(input, mat2, name=name)


@builds
def add_n(inputs, name=None):
    """The sum of variables of one shape."""
    return layers.sums(list(inputs) if isinstance(inputs, (list, tuple)) else [inputs])


@builds
def scale(x, scale=1.0, bias=0.0, bias_after_scale=True, act=None, name=None):
    return layers.scale(x, scale=scale, bias=bias, bias_after_scale=bias_after_scale, act=act, name=name)


@builds
def clip(x, min=None, max=None, name=None):
    return layers.clip(x, min=-_LARGEST if min is None else min, max=_LARGEST if max is None else max, name=name)


@builds
def cumsum(x, axis=None, dtype=None, name=None):
    """Of the flattened variable where axis is None."""
    x = x if dtype is None else layers.cast(x, dtype)
    return layers.cumsum(layers.reshape(x, [-1]), axis=0) if axis is None else layers.cumsum(x, axis=axis)


@builds
def increment(x, value=1.0, name=None):
    return layers.increment(x, value=value)


@builds
def cast(x, dtype):
    return layers.cast(x, dtype)


@builds
def concat(x, axis=0, name=None):
    return layers.concat(x, axis=axis, name=name)


@builds
def stack(x, axis=0, name=None):
    return layers.stack(x, axis=axis)


@builds
def unstack(x, axis=0, num=None):
    return layers.unstack(x, axis=axis, num=num)


unbind = unstack


@builds
def split(x, num_or_sections, axis=0, name=None):
    return layers.split(x, num_or_sections, dim=axis, name=name)


@builds
def chunk(x, chunks, axis=0, name=None):
    return layers.split(x, chunks, dim=axis, name=name)


@builds
def slice(input, axes, starts, ends):
    return layers.slice(input, axes, starts, ends)


@builds
def reshape(x, shape, name=None):
    return layers.reshape(x, shape, name=name)


@builds
def transpose(x, perm, name=None):
    return layers.transpose(x, perm, name=name)


@builds
def t(input, name=None):
    """The transposed matrix."""
    if len(input.shape) > 2:
        raise InvalidArgumentError(f"paddle.t: a variable of at most 2 dimensions; '{input.name}' has shape {list(input.shape)}")
    return input if len(input.shape) < 2 else layers.transpose(input, [1, 0], name=name)


def _axes(axis):
    return [] if axis is None else list(axis) if isinstance(axis, (list, tuple)) else [axis]


@builds
def squeeze(x, axis=None, name=None):
    return layers.squeeze(x, _axes(axis), name=name)


@builds
def unsqueeze(x, axis, name=None):
    return layers.unsqueeze(x, _axes(axis), name=name)


@builds
def flatten(x, start_axis=0, stop_axis=-1, name=None):
    """The axes from start_axis to stop_axis become one."""
    rank = len(x.shape)
    first, last = start_axis % rank, stop_axis % rank
    if first > last:
        raise InvalidArgumentError(f"paddle.flatten: start_axis {start_axis} is behind stop_axis {stop_axis}")
    attrs = {"start_axis": start_axis, "stop_axis": stop_axis}
    out, shape = _append("flatten_contiguous_range", {"X": x}, {"Out": x.dtype, "XShape": x.dtype}, attrs, name, "flatten")
    shape.stop_gradient = True
    return out


@builds
def tile(x, repeat_times, name=None):
    return layers.expand(x, repeat_times, name=name)


@builds
def expand_as(x, y, name=None):
    return layers.expand_as(x, y, name=name)


@builds
def argmax(x, axis=None, keepdim=False, dtype="int64", name=None):
    return _arg("argmax", x, axis, keepdim, dtype)


@builds
def argmin(x, axis=None, keepdim=False, dtype="int64", name=None):
    return _arg("argmin", x, axis, keepdim, dtype)


def _arg(name, x, axis, keepdim, dtype):
    if axis is None:
        found = getattr(layers, name)(layers.reshape(x, [-1]), axis=0)
        found = layers.reshape(found, [1] * len(x.shape)) if keepdim else found
    else:
        found = getattr(layers, name)(x, axis=axis)
        found = layers.unsqueeze(found, [axis % len(x.shape)]) if keepdim else found
    return found if _core.to_dtype(dtype) == found.dtype else layers.cast(found, dtype)


@builds
def topk(x, k, axis=None, largest=True, sorted=True, name=None):
    """(values, indices) of the k largest, or smallest, in order."""
    inputs = {"X": x, "K": k} if isinstance(k, _core.Variable) else {"X": x}
    attrs = {"axis": -1 if axis is None else axis, "largest": largest, "sorted": sorted}
    if not isinstance(k, _core.Variable):
        attrs["k"] = k
    values, indices = _append("top_k_v2", inputs, {"Out": x.dtype, "Indices": "int64"}, attrs, name)
    indices.stop_gradient = True
    return values, indices


@builds
def argsort(x, axis=-1, descending=False, name=None):
    return layers.argsort(x, axis=axis, descending=descending, name=name)[1]


@builds
def sort(x, axis=-1, descending=False, name=None):
    return layers.argsort(x, axis=axis, descending=descending, name=name)[0]


@builds
def where(condition, x=None, y=None, name=None):
    """x where the condition holds and y elsewhere."""
    if x is None or y is None:
        raise InvalidArgumentError("paddle.where: both x and y are needed; paddle.nonzero gives positions")
    return _core.layers.where(condition, x, y)


@builds
def nonzero(x, as_tuple=False):
    found = layers.where(x)
    return tuple(layers.slice(found, [1], [i], [i + 1]) for i in range(len(x.shape))) if as_tuple else found


@builds
def gather(x, index, axis=None, name=None):
    if axis in (None, 0):
        return layers.gather(x, index)
    order = list(range(len(x.shape)))
    order[0], order[axis] = order[axis], order[0]
    return layers.transpose(layers.gather(layers.transpose(x, order), index), order)


@builds
def index_select(x, index, axis=0, name=None):
    return gather(x, index, axis)


@builds
def gather_nd(x, index, name=None):
    return layers.gather_nd(x, index, name=name)


@builds
def scatter(x, index, updates, overwrite=True, name=None):
    return layers.scatter(x, index, updates, name=name, overwrite=overwrite)


@builds
def flip(x, axis, name=None):
    return layers.reverse(x, axis)


@builds
def shape(input):
    """Its sizes in a run, as a variable."""
    return layers.shape(input)


@builds
def numel(x, name=None):
    return layers.size(x)


@builds
def logical_and(x, y, out=None, name=None):
    return layers.logical_and(x, y, out, name)


@builds
def logical_or(x, y, out=None, name=None):
    return layers.logical_or(x, y, out, name)


@builds
def logical_xor(x, y, out=None, name=None):
    return layers.logical_xor(x, y, out, name)


@builds
def logical_not(x, out=None, name=None):
    return layers.logical_not(x, out, name)


def is_tensor(x):
    """Whether x is a tensor, or a variable."""
    return isinstance(x, _core.Variable) or computing(__name__, "is_tensor")(x)


def __getattr__(name):
    """What only tensors have."""
    if name.startswith("_"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return computing(__name__, name)


__all__ = sorted(name for name, value in vars(sys.modules[__name__]).items()
                 if callable(value) and not name.startswith("_") and name not in ("builds", "computing", "InvalidArgumentError"))
