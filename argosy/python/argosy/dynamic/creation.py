"""New tensors: given values, constants, series, random numbers."""

from typing import Any

import numpy
import torch

from argosy import _core, device
from argosy.dynamic import dtypes
from argosy.dynamic.calls import on_tensors
from argosy.dynamic.sizes import sizes
from argosy.dynamic.tensor import Tensor, torch_of, unwrap
from argosy.fluid.param_attr import as_attr

__all__ = [
    "to_tensor",
    "assign",
    "full",
    "zeros",
    "ones",
    "empty",
    "full_like",
    "zeros_like",
    "ones_like",
    "empty_like",
    "arange",
    "linspace",
    "logspace",
    "eye",
    "meshgrid",
    "tril_indices",
    "triu_indices",
    "rand",
    "randn",
    "standard_normal",
    "uniform",
    "normal",
    "randint",
    "randint_like",
    "randperm",
    "bernoulli",
    "multinomial",
    "poisson",
    "create_parameter",
    "is_tensor",
    "is_empty",
    "is_floating_point",
    "is_integer",
    "is_complex",
    "einsum",
    "complex",
    "polar",
    "broadcast_shape",
]


def _type(dtype):
    return dtypes.default() if dtype is None else dtypes.to_torch(dtype)


def _sizes(shape) -> Any:
    return sizes(unwrap(shape))


def _where(place=None):
    return device.torch_device(place)


def to_tensor(data, dtype=None, place=None, stop_gradient=True):
    """A tensor with values of its own from a number, nested lists, an array or a tensor, on `place` where one is given.

    >>> paddle.framework.to_variable([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """
    made = Tensor(torch_of(data, dtype, _where(place)))
    made.stop_gradient = stop_gradient
    return made


def assign(x, output=None):
    """A copy, through which gradients go, of a tensor; or given values as one. `output` gets them where it is given."""
    made = Tensor(x._torch.clone()) if isinstance(x, Tensor) else Tensor(torch_of(x, None, _where()))
    if output is None:
        return made
    if made._torch.requires_grad and not (output._torch.is_leaf and output._torch.requires_grad):
        output._torch = made._torch  # gradients go through
    else:
        output.set_value(made)
    return output


def full(shape, fill_value, dtype=None, name=None):
    return Tensor(torch.full(_sizes(shape), unwrap(fill_value), dtype=_type(dtype), device=_where()))


def zeros(shape, dtype=None, name=None):
    return Tensor(torch.zeros(_sizes(shape), dtype=_type(dtype), device=_where()))


def ones(shape, dtype=None, name=None):
    return Tensor(torch.ones(_sizes(shape), dtype=_type(dtype), device=_where()))


def empty(shape, dtype=None, name=None):
    return Tensor(torch.empty(_sizes(shape), dtype=_type(dtype), device=_where()))


def full_like(x, fill_value, dtype=None, name=None):
    return Tensor(torch.full_like(x._torch, unwrap(fill_value), dtype=None if dtype is None else _type(dtype)))


def zeros_like(x, dtype=None, name=None):
    return full_like(x, 0, dtype)


def ones_like(x, dtype=None, name=None):
    return full_like(x, 1, dtype)


@on_tensors
def empty_like(x, dtype=None, name=None):
    """A tensor with the shape of x, and its type unless one is given, whose values are what was in the memory.

    >>> paddle.empty_like(paddle.zeros([2])).shape
    [2]
    """
    return Tensor(torch.empty_like(x._torch, dtype=None if dtype is None else _type(dtype)))


def _number(value):
    return value.item() if isinstance(value, Tensor) else value


def arange(start=0, end=None, step=1, dtype=None, name=None):
    start, end, step = map(_number, (0, start, step) if end is None else (start, end, step))
    whole = all(isinstance(one, (int, numpy.integer)) for one in (start, end, step))
    return Tensor(torch.arange(start, end, step, dtype=torch.int64 if whole and dtype is None else _type(dtype), device=_where()))


def linspace(start, stop, num, dtype=None, name=None):
    return Tensor(torch.linspace(_number(start), _number(stop), _number(num), dtype=_type(dtype), device=_where()))


def logspace(start, stop, num, base=10.0, dtype=None, name=None):
    return Tensor(torch.logspace(_number(start), _number(stop), _number(num), _number(base), dtype=_type(dtype), device=_where()))


def eye(num_rows, num_columns=None, dtype=None, name=None):
    return Tensor(torch.eye(num_rows, num_columns or num_rows, dtype=_type(dtype), device=_where()))


@on_tensors
def meshgrid(*args, name=None):
    """Coordinates of a grid: of each vector, or list of vectors, a tensor over the axes of all of them.

    >>> rows, columns = paddle.meshgrid(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4]))
    >>> rows.tolist(), columns.tolist()
    ([[1, 1], [2, 2]], [[3, 4], [3, 4]])
    """
    given = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    return [Tensor(one) for one in torch.meshgrid(*unwrap(list(given)), indexing="ij")]


def tril_indices(row, col, offset=0, dtype="int64"):
    return Tensor(torch.tril_indices(row, col, offset, dtype=_type(dtype)))


def triu_indices(row, col=None, offset=0, dtype="int64"):
    return Tensor(torch.triu_indices(row, row if col is None else col, offset, dtype=_type(dtype)))


def uniform(shape, dtype=None, min=-1.0, max=1.0, seed=0, name=None):
    """seed 0 draws from the generator of paddle.seed."""
    generator = torch.Generator(_where()).manual_seed(seed) if seed else None
    made = torch.empty(_sizes(shape), dtype=_type(dtype), device=_where())
    return Tensor(made.uniform_(_number(min), _number(max), generator=generator))


def rand(shape, dtype=None, name=None):
    return uniform(shape, dtype, 0.0, 1.0)


def randn(shape, dtype=None, name=None):
    return Tensor(torch.randn(_sizes(shape), dtype=_type(dtype), device=_where()))


standard_normal = randn


def normal(mean: Any = 0.0, std: Any = 1.0, shape=None, name=None):
    """Means and deviations may be tensors, whose shape the result then has."""
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        given = mean if isinstance(mean, Tensor) else std
        return Tensor(torch.randn_like(given._torch) * unwrap(std) + unwrap(mean))
    return Tensor(torch.randn(_sizes([1] if shape is None else shape), dtype=dtypes.default(), device=_where()) * std + mean)


def randint(low=0, high=None, shape=(1,), dtype=None, name=None):
    low, high = (0, low) if high is None else (low, high)
    return Tensor(torch.randint(low, high, _sizes(shape), dtype=torch.int64 if dtype is None else _type(dtype), device=_where()))


@on_tensors
def randint_like(x, low=0, high=None, dtype=None, name=None):
    """Whole numbers drawn evenly from low to high - 1 in the shape of x, and its type unless one is given.

    >>> print(paddle.randint_like(paddle.zeros([2]), 0, 3).dtype)
    paddle.float32
    """
    return randint(low, high, x.shape, x.dtype if dtype is None else dtype)


def randperm(n, dtype="int64", name=None):
    return Tensor(torch.randperm(n, device=_where()).to(_type(dtype)))


@on_tensors
def bernoulli(x, name=None):
    """1 with the probability that x has in each place, and 0 otherwise.

    >>> paddle.bernoulli(paddle.to_tensor([0.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    return Tensor(torch.bernoulli(x._torch))


@on_tensors
def multinomial(x, num_samples=1, replacement=False, name=None):
    """Positions drawn with the weights in each row of x: num_samples of them, each once unless replacement.

    >>> paddle.multinomial(paddle.to_tensor([0.0, 1.0])).tolist()
    [1]
    """
    return Tensor(torch.multinomial(x._torch, num_samples, replacement))


@on_tensors
def poisson(x, name=None):
    """Whole numbers drawn from Poisson distributions with the means in x.

    >>> paddle.poisson(paddle.to_tensor([0.0])).tolist()
    [0.0]
    """
    return Tensor(torch.poisson(x._torch))


def create_parameter(shape, dtype, name=None, attr=None, is_bias=False, default_initializer=None):
    """A tensor to train."""
    from argosy.dynamic import initial

    if name is None and as_attr(attr).name is None:
        name = _core.unique_name(f"{_core.unique_name('create_parameter')}.{'b' if is_bias else 'w'}")
    return initial.parameter(shape, attr, dtype, is_bias, default_initializer, name)


def is_tensor(x):
    return isinstance(x, Tensor)


@on_tensors
def is_empty(x, name=None):
    """Whether a tensor has no elements, as a boolean tensor.

    >>> paddle.is_empty(paddle.zeros([0, 2])).item()
    True
    """
    return Tensor(torch.tensor(x.size == 0))


@on_tensors
def is_floating_point(x):
    """Whether a tensor is of floats.

    >>> paddle.is_floating_point(paddle.zeros([1]))
    True
    """
    return x._torch.is_floating_point()


@on_tensors
def is_complex(x):
    """Whether a tensor is of complex numbers.

    >>> paddle.is_complex(paddle.zeros([1]))
    False
    """
    return x._torch.is_complex()


@on_tensors
def is_integer(x):
    """Whether a tensor is of whole numbers.

    >>> paddle.is_integer(paddle.arange(3))
    True
    """
    return not (x._torch.is_floating_point() or x._torch.is_complex() or x._torch.dtype == torch.bool)


@on_tensors
def einsum(equation, *operands):
    """Sums of products by Einstein's notation: letters name axes, and those that are not behind the arrow are summed over.

    >>> paddle.einsum("ij,ij->i", paddle.ones([2, 3]), paddle.ones([2, 3])).tolist()
    [3.0, 3.0]
    """
    return Tensor(torch.einsum(equation, *unwrap(operands)))


def complex(real, imag, name=None):
    """Complex numbers from real and imaginary parts.

    >>> print(paddle.complex(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).numpy())
    [1.+2.j]
    """
    return Tensor(torch.complex(unwrap(real), unwrap(imag)))


def polar(abs, angle, name=None):
    """Complex numbers from absolute values and angles, in radians.

    >>> print(paddle.polar(paddle.to_tensor([2.0]), paddle.to_tensor([0.0])).numpy())
    [2.+0.j]
    """
    return Tensor(torch.polar(unwrap(abs), unwrap(angle)))


def broadcast_shape(x_shape, y_shape):
    """The shape that operators give tensors of two shapes, as a list.

    >>> paddle.broadcast_shape([2, 1], [1, 3])
    [2, 3]
    """
    return list(torch.broadcast_shapes(x_shape, y_shape))
