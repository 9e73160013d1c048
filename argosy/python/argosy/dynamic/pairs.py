"""Functions of two tensors, element by element: arithmetic, comparisons, bits."""

import torch

from argosy.dynamic.calls import computes


@computes
def fmax(x, y, name=None):
    """The larger one of each pair of elements; where one of them is nan, the other.

    >>> print(paddle.fmax(paddle.to_tensor([1.0, float("nan")]), paddle.to_tensor([2.0, 3.0])).numpy())
    [2. 3.]
    """
    return torch.fmax(x, y)


@computes
def fmin(x, y, name=None):
    """The smaller one of each pair of elements; where one of them is nan, the other.

    >>> print(paddle.fmin(paddle.to_tensor([1.0, float("nan")]), paddle.to_tensor([2.0, 3.0])).numpy())
    [1. 3.]
    """
    return torch.fmin(x, y)


@computes
def heaviside(x, y, name=None):
    """0 where x is below 0, 1 where it is above, and y where it is 0.

    >>> print(paddle.heaviside(paddle.to_tensor([-1.0, 0.0, 2.0]), paddle.to_tensor([0.5])).numpy())
    [0.  0.5 1. ]
    """
    return torch.where(x == 0, y, (x > 0).to(y.dtype))  # torch's own has no gradient


@computes
def kron(x, y, name=None):
    """Kronecker's product: each element of x times the whole of y, as blocks of one tensor.

    >>> paddle.kron(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 10])).tolist()
    [1, 10, 2, 20]
    """
    return torch.kron(x, y)


@computes
def ldexp(x, y, name=None):
    """x times 2 to the power y, for each pair of elements.

    >>> print(paddle.ldexp(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([2, 4])).numpy())
    [ 4. 48.]
    """
    return torch.ldexp(x, y)


@computes
def logaddexp(x, y, name=None):
    """log(exp(x) + exp(y)) for each pair of elements, without overflow.

    >>> print(paddle.logaddexp(paddle.to_tensor([0.0]), paddle.to_tensor([0.0])).numpy())
    [0.6931472]
    """
    x, y = (one if one.is_floating_point() else one.float() for one in (x, y))
    return torch.logaddexp(x, y)


@computes
def outer(x, y, name=None):
    """The product of each element of x with each of y, as a matrix: both are vectors, or taken as such.

    >>> paddle.outer(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])).tolist()
    [[3, 4], [6, 8]]
    """
    return torch.outer(x.reshape(-1), y.reshape(-1))


@computes
def inner(x, y, name=None):
    """Sums of products along the last axes of x and y, for each pair of their other places.

    >>> paddle.inner(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
    11.0
    """
    return torch.inner(x, y)


@computes
def bitwise_and(x, y, out=None, name=None):
    """The bits that x and y both have, of whole numbers or booleans; written to `out` where one is given.

    >>> paddle.bitwise_and(paddle.to_tensor([6]), paddle.to_tensor([3])).tolist()
    [2]
    """
    return torch.bitwise_and(x, y, out=out)


@computes
def bitwise_or(x, y, out=None, name=None):
    """The bits that x or y has, of whole numbers or booleans; written to `out` where one is given.

    >>> paddle.bitwise_or(paddle.to_tensor([6]), paddle.to_tensor([3])).tolist()
    [7]
    """
    return torch.bitwise_or(x, y, out=out)


@computes
def bitwise_xor(x, y, out=None, name=None):
    """The bits that just one of x and y has, of whole numbers or booleans; written to `out` where one is given.

    >>> paddle.bitwise_xor(paddle.to_tensor([6]), paddle.to_tensor([3])).tolist()
    [5]
    """
    return torch.bitwise_xor(x, y, out=out)


@computes
def bitwise_not(x, out=None, name=None):
    """The bits that x does not have, of whole numbers or booleans; written to `out` where one is given.

    >>> paddle.bitwise_not(paddle.to_tensor([0, 5])).tolist()
    [-1, -6]
    """
    return torch.bitwise_not(x, out=out)


@computes
def add(x, y, name=None):
    return torch.add(x, y)


@computes
def subtract(x, y, name=None):
    return torch.sub(x, y)


@computes
def multiply(x, y, name=None):
    return torch.mul(x, y)


@computes
def maximum(x, y, name=None):
    return torch.maximum(x, y)


@computes
def minimum(x, y, name=None):
    return torch.minimum(x, y)


@computes
def remainder(x, y, name=None):
    return torch.remainder(x, y)


@computes
def less_than(x, y, name=None):
    return torch.lt(x, y)


@computes
def less_equal(x, y, name=None):
    return torch.le(x, y)


@computes
def greater_than(x, y, name=None):
    return torch.gt(x, y)


@computes
def greater_equal(x, y, name=None):
    return torch.ge(x, y)


@computes
def equal(x, y, name=None):
    return torch.eq(x, y)


@computes
def not_equal(x, y, name=None):
    return torch.ne(x, y)


@computes
def mod(x, y, name=None):
    return torch.remainder(x, y)


@computes
def floor_mod(x, y, name=None):
    """What is left of x when it is divided by y, with the sign of y. Another name for paddle.mod.

    >>> paddle.floor_mod(paddle.to_tensor([7, -7]), paddle.to_tensor([3, 3])).tolist()
    [1, 2]
    """
    return torch.remainder(x, y)
