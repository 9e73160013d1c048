"""Angles: the trigonometric and hyperbolic functions."""

import torch

from argosy import _core
from argosy.dynamic.calls import computes

_entries = _core.on_tensors


@computes
def acos(x, name=None):
    """The arc cosine of each element of x, in radians; nan outside of [-1, 1].

    >>> print(paddle.acos(paddle.to_tensor([1.0, 0.0])).numpy())
    [0.        1.5707964]
    """
    return _entries.acos(x)


@computes
def acosh(x, name=None):
    """The inverse hyperbolic cosine of each element of x; nan below 1.

    >>> print(paddle.acosh(paddle.to_tensor([1.0, 2.0])).numpy())
    [0.       1.316958]
    """
    return torch.acosh(x)


@computes
def asin(x, name=None):
    """The arc sine of each element of x, in radians; nan outside of [-1, 1].

    >>> print(paddle.asin(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        1.5707964]
    """
    return _entries.asin(x)


@computes
def asinh(x, name=None):
    """The inverse hyperbolic sine of each element of x.

    >>> print(paddle.asinh(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        0.8813736]
    """
    return torch.asinh(x)


@computes
def atan(x, name=None):
    """The arc tangent of each element of x, in radians.

    >>> print(paddle.atan(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        0.7853982]
    """
    return _entries.atan(x)


@computes
def atanh(x, name=None):
    """The inverse hyperbolic tangent of each element of x; nan outside of [-1, 1].

    >>> print(paddle.atanh(paddle.to_tensor([0.0, 0.5])).numpy())
    [0.         0.54930615]
    """
    return torch.atanh(x)


@computes
def cos(x, name=None):
    return _entries.cos(x)


@computes
def cosh(x, name=None):
    """The hyperbolic cosine of each element of x.

    >>> print(paddle.cosh(paddle.to_tensor([0.0, 1.0])).numpy())
    [1.        1.5430806]
    """
    return torch.cosh(x)


@computes
def deg2rad(x, name=None):
    """Degrees as radians.

    >>> print(paddle.deg2rad(paddle.to_tensor([0.0, 180.0])).numpy())
    [0.        3.1415927]
    """
    return torch.deg2rad(x)


@computes
def rad2deg(x, name=None):
    """Radians as degrees.

    >>> print(paddle.rad2deg(paddle.to_tensor([0.0, 3.1415927])).numpy())
    [  0. 180.]
    """
    return torch.rad2deg(x)


@computes
def sin(x, name=None):
    return _entries.sin(x)


@computes
def sinh(x, name=None):
    """The hyperbolic sine of each element of x.

    >>> print(paddle.sinh(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        1.1752012]
    """
    return torch.sinh(x)


@computes
def tan(x, name=None):
    """The tangent of each element of x, which is in radians.

    >>> print(paddle.tan(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        1.5574077]
    """
    return torch.tan(x)


@computes
def tanh(x, name=None):
    return _entries.tanh(x)


@computes
def atan2(x, y, name=None):
    """The angle of the point (y, x) for each pair of elements, in radians from -pi to pi: the first argument is the ordinate.

    >>> print(paddle.atan2(paddle.to_tensor([1.0, -1.0]), paddle.to_tensor([1.0, -1.0])).numpy())
    [ 0.7853982 -2.3561945]
    """
    x, y = (one if one.is_floating_point() else one.double() for one in (x, y))
    return torch.atan2(x, y)


@computes
def hypot(x, y, name=None):
    """The root of x * x + y * y for each pair of elements, without overflow.

    >>> print(paddle.hypot(paddle.to_tensor([3.0]), paddle.to_tensor([4.0])).numpy())
    [5.]
    """
    return torch.hypot(x, y)
