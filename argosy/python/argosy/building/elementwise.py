"""Functions of single elements."""

import math

from argosy import _core
from argosy import tensor as T
from argosy.building.operators import append, constant
from argosy.fluid import layers


def acos(x, name=None):
    return layers.acos(x, name=name)


def asin(x, name=None):
    return layers.asin(x, name=name)


def atan(x, name=None):
    return layers.atan(x, name=name)


def sigmoid(x, name=None):
    return layers.sigmoid(x, name=name)


def tan(x, name=None):
    return T.sin(x) / T.cos(x)


def sinh(x, name=None):
    return (T.exp(x) - T.exp(-x)) * 0.5


def cosh(x, name=None):
    return (T.exp(x) + T.exp(-x)) * 0.5


def asinh(x, name=None):
    size = T.abs(x)
    return T.sign(x) * T.log(size + T.sqrt(T.square(x) + 1.0))


def acosh(x, name=None):
    return T.log(x + T.sqrt(T.square(x) - 1.0))


def atanh(x, name=None):
    return (T.log(x + 1.0) - T.log(1.0 - x)) * 0.5


def _float(x):
    """Whole numbers as float32."""
    return layers.cast(x, "float32") if _core.dtype_name(x.dtype) in ("bool", "uint8", "int8", "int16", "int32", "int64") else x


def expm1(x, name=None):
    x = _float(x)
    return T.tanh(x * 0.5) * (T.exp(x) + 1.0)  # exact near 0, where exp(x) - 1 is not


def log1p(x, name=None):
    x = _float(x)
    return atanh(x / (x + 2.0)) * 2.0


def log2(x, name=None):
    return T.log(_float(x)) * (1 / math.log(2))


def log10(x, name=None):
    return T.log(_float(x)) * (1 / math.log(10))


def trunc(input, name=None):
    if _core.dtype_name(input.dtype) in ("int64", "int32"):
        return layers.assign(input)
    return T.sign(input) * T.floor(T.abs(input))


def frac(x, name=None):
    return x - trunc(x)


def sgn(x, name=None):
    return T.sign(x)


def deg2rad(x, name=None):
    return _float(x) * (math.pi / 180)


def rad2deg(x, name=None):
    return _float(x) * (180 / math.pi)


def stanh(x, scale_a=0.67, scale_b=1.7159, name=None):
    return T.tanh(x * scale_a) * scale_b


def logit(x, eps=None, name=None):
    x = x if eps is None else T.clip(x, eps, 1 - eps)
    return T.log(x / (1.0 - x))


def logaddexp(x, y, name=None):
    x, y = _float(x), _float(y)
    return T.maximum(x, y) + log1p(T.exp(-T.abs(x - y)))


def lerp(x, y, weight, name=None):
    return x + (y - x) * weight


def hypot(x, y, name=None):
    return T.sqrt(T.square(x) + T.square(y))


def heaviside(x, y, name=None):
    above, here = layers.cast(x > 0.0, x.dtype), layers.cast(T.equal(x, T.zeros_like(x)), x.dtype)
    return above + here * y


def floor_mod(x, y, name=None):
    return T.mod(x, y)


def isfinite(x, name=None):
    return append("isfinite_v2", {"X": x}, {"Out": "bool"}, {}, name)[0]


def isinf(x, name=None):
    return append("isinf_v2", {"X": x}, {"Out": "bool"}, {}, name)[0]


def isnan(x, name=None):
    return append("isnan_v2", {"X": x}, {"Out": "bool"}, {}, name)[0]


def isclose(x, y, rtol=1e-05, atol=1e-08, equal_nan=False, name=None):
    near = T.less_equal(T.abs(x - y), T.abs(y) * rtol + atol)
    return T.logical_or(near, T.logical_and(isnan(x), isnan(y))) if equal_nan else near


def allclose(x, y, rtol=1e-05, atol=1e-08, equal_nan=False, name=None):
    return T.all(isclose(x, y, rtol, atol, equal_nan))


def equal_all(x, y, name=None):
    known = all(one >= 0 for one in [*x.shape, *y.shape])
    if len(x.shape) != len(y.shape) or (known and list(x.shape) != list(y.shape)):
        return layers.fill_constant([1], "bool", False)
    return T.all(T.equal(x, y))


def nan_to_num(x, nan=0.0, posinf=None, neginf=None, name=None):
    limit = 3.4028234663852886e38
    x = masked_fill(x, isnan(x), nan)
    return T.clip(x, -limit if neginf is None else neginf, limit if posinf is None else posinf)


def masked_fill(x, mask, value, name=None):
    from argosy.building.shapes import broadcast_to_like

    mask = layers.cast(mask, "bool")
    filling = value if hasattr(value, "block") else layers.scale(layers.zeros_like(x), bias=float(value))
    return layers.where(broadcast_to_like(mask, x), broadcast_to_like(layers.cast(filling, x.dtype), x), x)


_BITS = 63


def _bits(x):
    """The bits of whole numbers along a new last axis, those of two's complement: 63 and the sign."""
    powers = constant([2**i for i in range(_BITS)], "int64")
    x = layers.unsqueeze(layers.cast(x, "int64"), [-1])
    sign = layers.cast(x < 0, "int64")
    rest = x - sign * constant([-(2**_BITS)], "int64")
    return layers.concat([T.mod(T.floor_divide(rest, powers), layers.fill_constant([1], "int64", 2)), sign], axis=-1)


def _bitwise(kind, of_bits):
    def combined(x, y, out=None, name=None):
        if x.dtype == _core.to_dtype("bool"):
            return getattr(layers, f"logical_{kind}")(x, y, out)
        weights = constant([*(2**i for i in range(_BITS)), -(2**_BITS)], "int64")
        found = layers.cast(T.sum(of_bits(_bits(x), _bits(y)) * weights, -1), x.dtype)
        return found if out is None else layers.assign(found, out)

    return combined


bitwise_and = _bitwise("and", lambda x, y: x * y)
bitwise_or = _bitwise("or", lambda x, y: x + y - x * y)
bitwise_xor = _bitwise("xor", lambda x, y: x + y - x * y * 2)


def bitwise_not(x, out=None, name=None):
    return layers.logical_not(x, out) if x.dtype == _core.to_dtype("bool") else layers.assign(-x - 1, out)
