"""Comparisons, and logic of booleans."""

from argosy import _core
from argosy.dispatch import builds, computing
from argosy.fluid import layers


@builds
def less_than(x, y, name=None):
    """Whether x is less than y, for each pair of elements. Returns booleans.

    >>> paddle.less_than(paddle.to_tensor([1, 2]), paddle.to_tensor([2, 2])).tolist()
    [True, False]
    """
    return layers.less_than(x, y)


@builds
def less_equal(x, y, name=None):
    """Whether x is at most y, for each pair of elements. Returns booleans.

    >>> paddle.less_equal(paddle.to_tensor([1, 3]), paddle.to_tensor([1, 2])).tolist()
    [True, False]
    """
    return layers.less_equal(x, y)


@builds
def greater_than(x, y, name=None):
    """Whether x is greater than y, for each pair of elements. Returns booleans.

    >>> paddle.greater_than(paddle.to_tensor([1, 3]), paddle.to_tensor([1, 2])).tolist()
    [False, True]
    """
    return layers.greater_than(x, y)


@builds
def greater_equal(x, y, name=None):
    """Whether x is at least y, for each pair of elements. Returns booleans.

    >>> paddle.greater_equal(paddle.to_tensor([1, 1]), paddle.to_tensor([1, 2])).tolist()
    [True, False]
    """
    return layers.greater_equal(x, y)


@builds
def equal(x, y, name=None):
    """Whether x equals y, for each pair of elements. Returns booleans.

    >>> paddle.equal(paddle.to_tensor([1, 3]), paddle.to_tensor([1, 2])).tolist()
    [True, False]
    """
    return layers.equal(x, y if isinstance(y, _core.Variable) else layers.fill_constant([1], x.dtype, y))


@builds
def not_equal(x, y, name=None):
    """Whether x differs from y, for each pair of elements. Returns booleans.

    >>> paddle.not_equal(paddle.to_tensor([1, 3]), paddle.to_tensor([1, 2])).tolist()
    [False, True]
    """
    return layers.not_equal(x, y)


@builds
def logical_and(x, y, out=None, name=None):
    """Whether x and y are both True, for each pair of elements; written to `out` where one is given.

    >>> paddle.logical_and(paddle.to_tensor([True, True]), paddle.to_tensor([True, False])).tolist()
    [True, False]
    """
    return layers.logical_and(x, y, out, name)


@builds
def logical_or(x, y, out=None, name=None):
    """Whether x or y is True, for each pair of elements; written to `out` where one is given.

    >>> paddle.logical_or(paddle.to_tensor([True, False]), paddle.to_tensor([False, False])).tolist()
    [True, False]
    """
    return layers.logical_or(x, y, out, name)


@builds
def logical_xor(x, y, out=None, name=None):
    """Whether just one of x and y is True, for each pair of elements; written to `out` where one is given.

    >>> paddle.logical_xor(paddle.to_tensor([True, True]), paddle.to_tensor([True, False])).tolist()
    [False, True]
    """
    return layers.logical_xor(x, y, out, name)


@builds
def logical_not(x, out=None, name=None):
    """Whether each element is False; written to `out` where one is given.

    >>> paddle.logical_not(paddle.to_tensor([True, False])).tolist()
    [False, True]
    """
    return layers.logical_not(x, out, name)


def is_tensor(x):
    """Whether x is a tensor, or a variable of a static program.

    >>> paddle.is_tensor(paddle.zeros([1])), paddle.is_tensor([0.0])
    (True, False)
    """
    return isinstance(x, _core.Variable) or computing(__name__, "is_tensor")(x)
