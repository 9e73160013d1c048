"""Functions of each element, and of two tensors element by element."""
import torch

from argosy.dynamic.calls import computes


@computes
def abs(x, name=None):
    return torch.abs(x)


@computes
def acos(x, name=None):
    """The arc cosine of each element of x, in radians; nan outside of [-1, 1].

    >>> print(paddle.acos(paddle.to_tensor([1.0, 0.0])).numpy())
    [0.        1.5707964]
    """
    return torch.acos(x)


@computes
def acosh(x, name=None):
    """The inverse hyperbolic cosine of each element of x; nan below 1.

    >>> print(paddle.acosh(paddle.to_tensor([1.0, 2.0])).numpy())
    [0.       1.316958]
    """
    return torch.acosh(x)


@computes
def angle(x, name=None):
    """The angle of each complex number, in radians; of real numbers 0, or pi below 0.

    >>> print(paddle.angle(paddle.to_tensor([1.0, -1.0])).numpy())
    [0.        3.1415927]
    """
    return torch.angle(x)


@computes
def asin(x, name=None):
    """The arc sine of each element of x, in radians; nan outside of [-1, 1].

    >>> print(paddle.asin(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        1.5707964]
    """
    return torch.asin(x)


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
    return torch.atan(x)


@computes
def atanh(x, name=None):
    """The inverse hyperbolic tangent of each element of x; nan outside of [-1, 1].

    >>> print(paddle.atanh(paddle.to_tensor([0.0, 0.5])).numpy())
    [0.         0.54930615]
    """
    return torch.atanh(x)


@computes
def ceil(x, name=None):
    return torch.ceil(x)


@computes
def conj(x, name=None):
    """The complex conjugate of each element; real numbers stay as they are.

    >>> print(paddle.conj(paddle.complex(paddle.to_tensor([1.0]), paddle.to_tensor([2.0]))).numpy())
    [1.-2.j]
    """
    return torch.conj(x)


@computes
def cos(x, name=None):
    return torch.cos(x)


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
def digamma(x, name=None):
    """The derivative of lgamma at each element of x.

    >>> print(paddle.digamma(paddle.to_tensor([1.0, 2.0])).numpy())
    [-0.5772159  0.4227842]
    """
    return torch.digamma(x)


@computes
def erf(x, name=None):
    return torch.erf(x)


@computes
def erfinv(x, name=None):
    """The inverse of erf: the y for which erf(y) is the element, which lies in (-1, 1).

    >>> print(paddle.erfinv(paddle.to_tensor([0.0, 0.5])).numpy())
    [0.         0.47693628]
    """
    return torch.erfinv(x)


@computes
def exp(x, name=None):
    return torch.exp(x)


@computes
def expm1(x, name=None):
    """exp(x) - 1 of each element, exact near 0 too.

    >>> print(paddle.expm1(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        1.7182819]
    """
    return torch.expm1(x)


@computes
def floor(x, name=None):
    return torch.floor(x)


@computes
def frac(x, name=None):
    """What is left of each element of x without its whole part; it has the sign of x.

    >>> print(paddle.frac(paddle.to_tensor([1.5, -0.25])).numpy())
    [ 0.5  -0.25]
    """
    return torch.frac(x)


@computes
def i0(x, name=None):
    """The modified Bessel function of the first kind, of order 0, at each element of x.

    >>> print(paddle.i0(paddle.to_tensor([1.0, 2.0])).numpy())
    [1.266066  2.2795851]
    """
    return torch.i0(x)


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
def lgamma(x, name=None):
    """The logarithm of the absolute value of the gamma function at each element of x.

    >>> print(paddle.lgamma(paddle.to_tensor([1.0, 4.0])).numpy())
    [0.        1.7917595]
    """
    return torch.lgamma(x)


@computes
def log(x, name=None):
    return torch.log(x)


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
def rad2deg(x, name=None):
    """Radians as degrees.

    >>> print(paddle.rad2deg(paddle.to_tensor([0.0, 3.1415927])).numpy())
    [  0. 180.]
    """
    return torch.rad2deg(x)


@computes
def real(x, name=None):
    """The real part of complex numbers.

    >>> print(paddle.real(paddle.complex(paddle.to_tensor([1.0]), paddle.to_tensor([2.0]))).numpy())
    [1.]
    """
    return torch.real(x)


@computes
def reciprocal(x, name=None):
    return torch.reciprocal(x)


@computes
def rsqrt(x, name=None):
    return torch.rsqrt(x)


@computes
def sgn(x, name=None):
    """The sign of each element of x: -1, 0 or 1; of a complex number its direction, with absolute value 1.

    >>> print(paddle.sgn(paddle.to_tensor([-3.0, 0.0, 2.0])).numpy())
    [-1.  0.  1.]
    """
    return torch.sgn(x)


@computes
def sign(x, name=None):
    return torch.sign(x)


@computes
def sin(x, name=None):
    return torch.sin(x)


@computes
def sinh(x, name=None):
    """The hyperbolic sine of each element of x.

    >>> print(paddle.sinh(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        1.1752012]
    """
    return torch.sinh(x)


@computes
def sqrt(x, name=None):
    return torch.sqrt(x)


@computes
def square(x, name=None):
    return torch.square(x)


@computes
def tan(x, name=None):
    """The tangent of each element of x, which is in radians.

    >>> print(paddle.tan(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        1.5574077]
    """
    return torch.tan(x)


@computes
def tanh(x, name=None):
    return torch.tanh(x)


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
    return torch.sigmoid(x)


@computes
def atan2(x, y, name=None):
    """The angle of the point (y, x) for each pair of elements, in radians from -pi to pi: the first argument is the ordinate.

    >>> print(paddle.atan2(paddle.to_tensor([1.0, -1.0]), paddle.to_tensor([1.0, -1.0])).numpy())
    [ 0.7853982 -2.3561945]
    """
    return torch.atan2(x, y)


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
def gcd(x, y, name=None):
    """The greatest common divisor of each pair of whole numbers.

    >>> paddle.gcd(paddle.to_tensor([12, 7]), paddle.to_tensor([18, 5])).tolist()
    [6, 1]
    """
    return torch.gcd(x, y)


@computes
def heaviside(x, y, name=None):
    """0 where x is below 0, 1 where it is above, and y where it is 0.

    >>> print(paddle.heaviside(paddle.to_tensor([-1.0, 0.0, 2.0]), paddle.to_tensor([0.5])).numpy())
    [0.  0.5 1. ]
    """
    return torch.heaviside(x, y)


@computes
def hypot(x, y, name=None):
    """The root of x * x + y * y for each pair of elements, without overflow.

    >>> print(paddle.hypot(paddle.to_tensor([3.0]), paddle.to_tensor([4.0])).numpy())
    [5.]
    """
    return torch.hypot(x, y)


@computes
def kron(x, y, name=None):
    """Kronecker's product: each element of x times the whole of y, as blocks of one tensor.

    >>> paddle.kron(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 10])).tolist()
    [1, 10, 2, 20]
    """
    return torch.kron(x, y)


@computes
def lcm(x, y, name=None):
    """The least common multiple of each pair of whole numbers.

    >>> paddle.lcm(paddle.to_tensor([4, 7]), paddle.to_tensor([6, 5])).tolist()
    [12, 35]
    """
    return torch.lcm(x, y)


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
    return torch.logaddexp(x, y)


@computes
def nextafter(x, y, name=None):
    """The next number of the type after x in the direction of y.

    >>> bool(paddle.nextafter(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])) > 1.0)
    True
    """
    return torch.nextafter(x, y)


@computes
def outer(x, y, name=None):
    """The product of each element of the vector x with each of the vector y, as a matrix.

    >>> paddle.outer(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])).tolist()
    [[3, 4], [6, 8]]
    """
    return torch.outer(x, y)


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
