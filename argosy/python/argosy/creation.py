"""New tensors, or variables in static mode, under 2.x's names: constants, series, random numbers."""

import math

from argosy import _core
from argosy.building.operators import constant
from argosy.dispatch import builds, by_mode, holds_variable
from argosy.errors import InvalidArgumentError
from argosy.fluid import layers

__all__ = [
    "assign",
    "full",
    "zeros",
    "ones",
    "zeros_like",
    "ones_like",
    "full_like",
    "arange",
    "linspace",
    "uniform",
    "rand",
    "normal",
    "randn",
    "to_tensor",
    "create_parameter",
    "eye",
    "empty",
    "randint",
    "standard_normal",
    "randperm",
    "logspace",
    "tril_indices",
    "triu_indices",
]


@by_mode
def assign(x, output=None):
    """A copy of a tensor, through which gradients go; or given values as a tensor. `output` gets them where it is given.

    >>> paddle.assign([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """
    return layers.assign(_stacked(x) if not isinstance(x, _core.Variable) and holds_variable(x) else x, output)


def _stacked(values):
    """A list, or lists of lists, of variables and numbers as one variable."""
    if isinstance(values, (list, tuple)):
        parts = [_stacked(one) for one in values]
        return layers.stack(parts, axis=0)
    return values if isinstance(values, _core.Variable) else layers.reshape(constant([values]), [1])


@by_mode
def full(shape, fill_value, dtype=None, name=None):
    """A tensor of `shape` with one value everywhere, in `dtype` or the default type.

    >>> paddle.full([2], 7.0).tolist()
    [7.0, 7.0]
    """
    return layers.fill_constant(shape, dtype or "float32", fill_value)


@by_mode
def zeros(shape, dtype=None, name=None):
    """A tensor of `shape` of zeros, in `dtype` or the default type.

    >>> paddle.zeros([2, 2]).tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    return layers.fill_constant(shape, dtype or "float32", 0)


@by_mode
def ones(shape, dtype=None, name=None):
    """A tensor of `shape` of ones, in `dtype` or the default type.

    >>> paddle.ones([2], dtype="int64").tolist()
    [1, 1]
    """
    return layers.fill_constant(shape, dtype or "float32", 1)


@builds
def zeros_like(x, dtype=None, name=None):
    """Zeros in the shape of x, and its type unless one is given.

    >>> paddle.zeros_like(paddle.to_tensor([1, 2])).tolist()
    [0, 0]
    """
    return layers.zeros_like(x if dtype is None else layers.cast(x, dtype))


@builds
def ones_like(x, dtype=None, name=None):
    """Ones in the shape of x, and its type unless one is given.

    >>> paddle.ones_like(paddle.to_tensor([1, 2])).tolist()
    [1, 1]
    """
    return layers.ones_like(x if dtype is None else layers.cast(x, dtype))


@builds
def full_like(x, fill_value, dtype=None, name=None):
    """One value in the shape of x, and its type unless one is given.

    >>> paddle.full_like(paddle.to_tensor([1, 2]), 5).tolist()
    [5, 5]
    """
    return layers.scale(zeros_like(x, dtype), bias=float(fill_value))


@by_mode
def arange(start=0, end=None, step=1, dtype=None, name=None):
    """Numbers from `start` up to, but without, `end`, `step` apart. One argument is the end, and the start is 0.

    >>> paddle.arange(1, 7, 2).tolist()
    [1, 3, 5]
    """
    start, end = (0, start) if end is None else (start, end)
    whole = isinstance(start, int) and isinstance(end, int) and isinstance(step, int)
    found = layers.range(start, end, step, dtype or ("int64" if whole else "float32"))
    known = all(isinstance(one, (int, float)) for one in (start, end, step))
    return layers.reshape(found, [max(0, math.ceil((end - start) / step))]) if known else found


@by_mode
def linspace(start, stop, num, dtype=None, name=None):
    """`num` numbers from `start` to `stop`, both included, evenly apart.

    >>> paddle.linspace(0, 1, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    return layers.linspace(start, stop, num, dtype or "float32")


@by_mode
def uniform(shape, dtype=None, min=-1.0, max=1.0, seed=0, name=None):
    """Numbers drawn evenly from `min` to `max`, in `shape`. seed 0 draws from the generator of paddle.seed.

    >>> x = paddle.uniform([100], min=2.0, max=3.0)
    >>> bool(paddle.all(x >= 2.0)), bool(paddle.all(x <= 3.0))
    (True, True)
    """
    return layers.uniform_random(shape, dtype or "float32", min, max, seed)


@by_mode
def rand(shape, dtype=None, name=None):
    """Numbers drawn evenly from 0 to 1, in `shape`.

    >>> paddle.rand([2, 3]).shape
    [2, 3]
    """
    return layers.uniform_random(shape, dtype or "float32", 0.0, 1.0)


@by_mode
def logspace(start, stop, num, base=10.0, dtype=None, name=None):
    """`num` numbers from base ** start to base ** stop, evenly apart in the exponent.

    >>> paddle.logspace(0, 2, 3).tolist()
    [1.0, 10.0, 100.0]
    """
    import numpy

    if any(isinstance(one, _core.Variable) for one in (start, stop, num, base)):
        raise InvalidArgumentError("logspace: start, stop, num and base are numbers in a program; paddle.pow of a paddle.linspace takes variables")
    return constant(numpy.logspace(start, stop, num, base=base), dtype or "float32")


@by_mode
def tril_indices(row, col, offset=0, dtype="int64"):
    """Rows and columns of the elements on and below the diagonal of a matrix; `offset` moves the border up.

    >>> paddle.tril_indices(2, 2).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    import numpy

    return constant(numpy.stack(numpy.tril_indices(row, offset, col)), dtype)


@by_mode
def triu_indices(row, col=None, offset=0, dtype="int64"):
    """Rows and columns of the elements on and above the diagonal of a matrix; `offset` moves the border up.

    >>> paddle.triu_indices(2, 2).tolist()
    [[0, 0, 1], [0, 1, 1]]
    """
    import numpy

    return constant(numpy.stack(numpy.triu_indices(row, offset, row if col is None else col)), dtype)


@by_mode
def normal(mean=0.0, std=1.0, shape=None, name=None):
    """Numbers drawn from normal distributions, in `shape`. Means and deviations may be tensors, whose shape the result then has.

    >>> paddle.normal(mean=5.0, std=0.1, shape=[2, 3]).shape
    [2, 3]
    """
    given = next((one for one in (mean, std) if isinstance(one, _core.Variable)), None)
    if given is None:
        return layers.gaussian_random([1] if shape is None else shape, mean, std)
    return layers.gaussian_random(layers.shape(given), 0.0, 1.0, 0, _core.dtype_name(given.dtype)) * std + mean


@by_mode
def randn(shape, dtype=None, name=None):
    """Numbers drawn from the standard normal distribution, in `shape`.

    >>> paddle.randn([2, 3]).shape
    [2, 3]
    """
    return layers.gaussian_random(shape, 0.0, 1.0, 0, dtype or "float32")


@by_mode
def to_tensor(data, dtype=None, place=None, stop_gradient=True):
    """A tensor with values of its own from a number, nested lists, an array or a tensor, on `place` where one is given.

    It takes gradients where stop_gradient is False. In static mode it is a constant of the program.

    >>> paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    Tensor(shape=[2, 2], dtype=float32, place=Place(cpu), stop_gradient=True,
           [[1., 2.],
            [3., 4.]])
    """
    if isinstance(data, _core.Variable):
        made = layers.assign(data)
    elif holds_variable(data):
        made = _stacked(data)
        made = made if dtype is None else layers.cast(made, dtype)
    else:
        made = constant(data, dtype)
    made.stop_gradient = stop_gradient
    return made


@by_mode
def create_parameter(shape, dtype, name=None, attr=None, is_bias=False, default_initializer=None):
    """A tensor, or in static mode a variable, to train. `attr`, a ParamAttr, says its name, its first values and more.

    >>> weight = paddle.create_parameter([2, 3], "float32")
    >>> weight.shape, weight.stop_gradient
    ([2, 3], False)
    """
    return layers.create_parameter(shape, dtype, name=name, attr=attr, is_bias=is_bias, default_initializer=default_initializer)


@by_mode
def eye(num_rows, num_columns=None, dtype=None, name=None):
    """The identity matrix of num_rows rows, and as many columns unless num_columns is given.

    >>> paddle.eye(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return constant([[float(row == column) for column in range(num_columns or num_rows)] for row in range(num_rows)], dtype or "float32")


@by_mode
def empty(shape, dtype=None, name=None):
    """A tensor of `shape` whose values are what was in the memory, or zeros in a program; in `dtype`, or the default type.

    >>> paddle.empty([2, 3]).shape
    [2, 3]
    """
    return layers.fill_constant(shape, dtype or "float32", 0)


@by_mode
def randint(low=0, high=None, shape=(1,), dtype=None, name=None):
    """Whole numbers drawn evenly from low to high - 1, or from 0 to low - 1 where high is None.

    >>> bool(paddle.randint(0, 3, [100]).max() < 3)
    True
    """
    low, high = (0, low) if high is None else (low, high)
    drawn = layers.floor(layers.uniform_random(shape if isinstance(shape, _core.Variable) else list(shape), "float32", float(low), float(high)))
    return layers.cast(layers.clip(drawn, min=float(low), max=float(high - 1)), dtype or "int64")


@by_mode
def standard_normal(shape, dtype=None, name=None):
    """Numbers drawn from the standard normal distribution, in `shape`.

    >>> paddle.standard_normal([2, 3]).shape
    [2, 3]
    """
    return layers.gaussian_random(shape, 0.0, 1.0, 0, dtype or "float32")


@by_mode
def randperm(n, dtype="int64", name=None):
    """The numbers from 0 to n - 1 in a drawn order.

    >>> paddle.randperm(4).sort().tolist()
    [0, 1, 2, 3]
    """
    return layers.cast(layers.argsort(layers.uniform_random([n], "float32", 0.0, 1.0))[1], dtype)
