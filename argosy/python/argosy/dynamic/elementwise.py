"""Functions of each element."""

import torch

from argosy import _core
from argosy.dynamic.calls import computes

_entries = _core.on_tensors


@computes
def abs(x, name=None):
    return _entries.abs(x)


@computes
def angle(x, name=None):
    """The angle of each complex number, in radians; of real numbers 0, or pi below 0.

    >>> print(paddle.angle(paddle.to_tensor([1.0, -1.0])).numpy())
    [0.        3.1415927]
    """
    return torch.angle(x)


@computes
def ceil(x, name=None):
    return _entries.ceil(x)


@computes
def conj(x, name=None):
    """The complex conjugate of each element; real numbers stay as they are.

    >>> print(paddle.conj(paddle.complex(paddle.to_tensor([1.0]), paddle.to_tensor([2.0]))).numpy())
    [1.-2.j]
    """
    return torch.conj(x)


@computes
def erf(x, name=None):
    return _entries.erf(x)


@computes
def exp(x, name=None):
    return _entries.exp(x)


@computes
def expm1(x, name=None):
    """exp(x) - 1 of each element, exact near 0 too.

    >>> print(paddle.expm1(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        1.7182819]
    """
    return torch.expm1(x)


@computes
def floor(x, name=None):
    return _entries.floor(x)


@computes
def frac(x, name=None):
    """What is left of each element of x without its whole part; it has the sign of x.

    >>> print(paddle.frac(paddle.to_tensor([1.5, -0.25])).numpy())
    [ 0.5  -0.25]
    """
    return torch.frac(x) if x.is_floating_point() else torch.zeros_like(x)


@computes
def imag(x, name=None):
    """The imaginary part of complex numbers.

    >>> print(paddle.imag(paddle.complex(paddle.to_tensor([1.0]), paddle.to_tensor([2.0]))).numpy())
    [2.]
    """
    return torch.imag(x)


@computes
def isfinite(x, name=None):
    """Whether each element of x is a number, neither infinite nor nan. Returns booleans.

    >>> paddle.isfinite(paddle.to_tensor([1.0, float("inf")])).tolist()
    [True, False]
    """
    return torch.isfinite(x)


@computes
def isinf(x, name=None):
    """Whether each element of x is infinite, with either sign. Returns booleans.

    >>> paddle.isinf(paddle.to_tensor([1.0, float("-inf")])).tolist()
    [False, True]
    """
    return torch.isinf(x)


@computes
def isnan(x, name=None):
    """Whether each element of x is nan. Returns booleans.

    >>> paddle.isnan(paddle.to_tensor([1.0, float("nan")])).tolist()
    [False, True]
    """
    return torch.isnan(x)


@computes
def log(x, name=None):
    return _entries.log(x)


@computes
def log10(x, name=None):
    """The logarithm to base 10 of each element of x.

    >>> print(paddle.log10(paddle.to_tensor([1.0, 1000.0])).numpy())
    [0. 3.]
    """
    return torch.log10(x)


@computes
def log1p(x, name=None):
    """The natural logarithm of 1 + x of each element, exact near 0 too.

    >>> print(paddle.log1p(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        0.6931472]
    """
    return torch.log1p(x)


@computes
def log2(x, name=None):
    """The logarithm to base 2 of each element of x.

    >>> print(paddle.log2(paddle.to_tensor([1.0, 8.0])).numpy())
    [0. 3.]
    """
    return torch.log2(x)


@computes
def neg(x, name=None):
    return torch.neg(x)


@computes
def real(x, name=None):
    """The real part of complex numbers.

    >>> print(paddle.real(paddle.complex(paddle.to_tensor([1.0]), paddle.to_tensor([2.0]))).numpy())
    [1.]
    """
    return torch.real(x)


@computes
def reciprocal(x, name=None):
    return _entries.reciprocal(x)


@computes
def rsqrt(x, name=None):
    return _entries.rsqrt(x)


@computes
def sgn(x, name=None):
    """The sign of each element of x: -1, 0 or 1; of a complex number its direction, with absolute value 1.

    >>> print(paddle.sgn(paddle.to_tensor([-3.0, 0.0, 2.0])).numpy())
    [-1.  0.  1.]
    """
    return torch.sgn(x)


@computes
def sign(x, name=None):
    return _entries.sign(x)


@computes
def sqrt(x, name=None):
    return _entries.sqrt(x)


@computes
def square(x, name=None):
    return _entries.square(x)


@computes
def trunc(input, name=None):
    """The whole part of each element: what is behind the point is dropped.

    >>> print(paddle.trunc(paddle.to_tensor([1.7, -1.7])).numpy())
    [ 1. -1.]
    """
    return torch.trunc(input)


@computes
def sigmoid(x, name=None):
    """1 / (1 + exp(-x)) of each element of x.

    >>> print(paddle.tensor.sigmoid(paddle.to_tensor([0.0, 2.0])).numpy())
    [0.5      0.880797]
    """
    return _entries.sigmoid(x)
