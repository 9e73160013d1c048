"""Functions of each element, and of two tensors element by element."""
import torch

from argosy.dynamic.calls import computes


@computes
def abs(x, name=None):
    return torch.abs(x)


@computes
def acos(x, name=None):
    return torch.acos(x)


@computes
def acosh(x, name=None):
    return torch.acosh(x)


@computes
def angle(x, name=None):
    return torch.angle(x)


@computes
def asin(x, name=None):
    return torch.asin(x)


@computes
def asinh(x, name=None):
    return torch.asinh(x)


@computes
def atan(x, name=None):
    return torch.atan(x)


@computes
def atanh(x, name=None):
    return torch.atanh(x)


@computes
def ceil(x, name=None):
    return torch.ceil(x)


@computes
def conj(x, name=None):
    return torch.conj(x)


@computes
def cos(x, name=None):
    return torch.cos(x)


@computes
def cosh(x, name=None):
    return torch.cosh(x)


@computes
def deg2rad(x, name=None):
    return torch.deg2rad(x)


@computes
def digamma(x, name=None):
    return torch.digamma(x)


@computes
def erf(x, name=None):
    return torch.erf(x)


@computes
def erfinv(x, name=None):
    return torch.erfinv(x)


@computes
def exp(x, name=None):
    return torch.exp(x)


@computes
def expm1(x, name=None):
    return torch.expm1(x)


@computes
def floor(x, name=None):
    return torch.floor(x)


@computes
def frac(x, name=None):
    return torch.frac(x)


@computes
def i0(x, name=None):
    return torch.i0(x)


@computes
def imag(x, name=None):
    return torch.imag(x)


@computes
def isfinite(x, name=None):
    return torch.isfinite(x)


@computes
def isinf(x, name=None):
    return torch.isinf(x)


@computes
def isnan(x, name=None):
    return torch.isnan(x)


@computes
def lgamma(x, name=None):
    return torch.lgamma(x)


@computes
def log(x, name=None):
    return torch.log(x)


@computes
def log10(x, name=None):
    return torch.log10(x)


@computes
def log1p(x, name=None):
    return torch.log1p(x)


@computes
def log2(x, name=None):
    return torch.log2(x)


@computes
def neg(x, name=None):
    return torch.neg(x)


@computes
def rad2deg(x, name=None):
    return torch.rad2deg(x)


@computes
def real(x, name=None):
    return torch.real(x)


@computes
def reciprocal(x, name=None):
    return torch.reciprocal(x)


@computes
def rsqrt(x, name=None):
    return torch.rsqrt(x)


@computes
def sgn(x, name=None):
    return torch.sgn(x)


@computes
def sign(x, name=None):
    return torch.sign(x)


@computes
def sin(x, name=None):
    return torch.sin(x)


@computes
def sinh(x, name=None):
    return torch.sinh(x)


@computes
def sqrt(x, name=None):
    return torch.sqrt(x)


@computes
def square(x, name=None):
    return torch.square(x)


@computes
def tan(x, name=None):
    return torch.tan(x)


@computes
def tanh(x, name=None):
    return torch.tanh(x)


@computes
def trunc(x, name=None):
    return torch.trunc(x)


@computes
def sigmoid(x, name=None):
    return torch.sigmoid(x)


@computes
def atan2(x, y, name=None):
    return torch.atan2(x, y)


@computes
def fmax(x, y, name=None):
    return torch.fmax(x, y)


@computes
def fmin(x, y, name=None):
    return torch.fmin(x, y)


@computes
def gcd(x, y, name=None):
    return torch.gcd(x, y)


@computes
def heaviside(x, y, name=None):
    return torch.heaviside(x, y)


@computes
def hypot(x, y, name=None):
    return torch.hypot(x, y)


@computes
def kron(x, y, name=None):
    return torch.kron(x, y)


@computes
def lcm(x, y, name=None):
    return torch.lcm(x, y)


@computes
def ldexp(x, y, name=None):
    return torch.ldexp(x, y)


@computes
def logaddexp(x, y, name=None):
    return torch.logaddexp(x, y)


@computes
def nextafter(x, y, name=None):
    return torch.nextafter(x, y)


@computes
def outer(x, y, name=None):
    return torch.outer(x, y)


@computes
def inner(x, y, name=None):
    return torch.inner(x, y)


@computes
def bitwise_and(x, y, out=None, name=None):
    return torch.bitwise_and(x, y, out=out)


@computes
def bitwise_or(x, y, out=None, name=None):
    return torch.bitwise_or(x, y, out=out)


@computes
def bitwise_xor(x, y, out=None, name=None):
    return torch.bitwise_xor(x, y, out=out)


@computes
def bitwise_not(x, out=None, name=None):
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
    return torch.remainder(x, y)
