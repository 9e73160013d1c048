"""Arithmetic, reductions and comparisons on tensors."""
import torch

from argosy.dynamic import dtypes
from argosy.dynamic.calls import computes, made_of, same_names

_UNARY = (
    "abs acos acosh angle asin asinh atan atanh ceil conj cos cosh deg2rad digamma erf erfinv exp expm1 floor frac i0 imag isfinite isinf "
    "isnan lgamma log log10 log1p log2 neg rad2deg real reciprocal rsqrt sgn sign sin sinh sqrt square tan tanh trunc sigmoid")
_BINARY = (
    "atan2 bitwise_and bitwise_or bitwise_xor fmax fmin gcd heaviside hypot kron lcm ldexp logaddexp nextafter outer inner bitwise_not")
_PAIRS = {  # Paddle's name -> torch's
    "add": torch.add, "subtract": torch.sub, "multiply": torch.mul, "maximum": torch.maximum, "minimum": torch.minimum,
    "remainder": torch.remainder, "mod": torch.remainder, "floor_mod": torch.remainder, "less_than": torch.lt, "less_equal": torch.le,
    "greater_than": torch.gt, "greater_equal": torch.ge, "equal": torch.eq, "not_equal": torch.ne,
}

FUNCTIONS = {**same_names(torch, _UNARY), **same_names(torch, _BINARY), **{name: made_of(function, name) for name, function in _PAIRS.items()}}


def _axes(axis):
    """None and () are all axes."""
    return None if axis is None or (isinstance(axis, (list, tuple)) and not axis) else tuple(axis) if isinstance(axis, list) else axis


def _public(function):
    FUNCTIONS[function.__name__] = computes(function)
    return function


def _reduction(name, of_torch):
    def function(x, axis=None, keepdim=False):
        axes = _axes(axis)
        return of_torch(x, tuple(range(x.dim())) if axes is None else axes, keepdim)
    function.__name__ = function.__qualname__ = name
    FUNCTIONS[name] = computes(function)


for _name, _function in (("mean", torch.mean), ("max", torch.amax), ("min", torch.amin), ("amax", torch.amax), ("amin", torch.amin),
                         ("all", torch.all), ("any", torch.any), ("logsumexp", torch.logsumexp), ("nanmean", torch.nanmean),
                         ("count_nonzero", lambda x, axes, keepdim: (x != 0).sum(axes, keepdim))):
    _reduction(_name, _function)


@_public
def round(x):
    """Halves go away from 0; torch's own go to the even neighbour."""
    if not x.is_floating_point():
        return torch.round(x)
    whole = torch.trunc(x)
    return torch.where((x - whole).abs() >= 0.5, whole + torch.sign(x), whole)


@_public
def divide(x, y):
    """Of integers too: the result is a float."""
    return torch.true_divide(x, y)


@_public
def floor_divide(x, y):
    return torch.div(x, y, rounding_mode="floor")


@_public
def pow(x, y):
    return torch.pow(x, y)


@_public
def sum(x, axis=None, dtype=None, keepdim=False):
    """Of booleans and small integers in int64, unless dtype says otherwise."""
    chosen = None if dtype is None else dtypes.to_torch(dtype)
    return torch.sum(x, _axes(axis), keepdim, dtype=chosen) if axis is not None else _all_axes(torch.sum(x, dtype=chosen), x, keepdim)


@_public
def nansum(x, axis=None, dtype=None, keepdim=False):
    chosen = None if dtype is None else dtypes.to_torch(dtype)
    return torch.nansum(x, _axes(axis), keepdim, dtype=chosen)


def _all_axes(value, x, keepdim):
    return value.reshape([1] * x.dim()) if keepdim else value


@_public
def prod(x, axis=None, keepdim=False, dtype=None):
    x = x if dtype is None else x.to(dtypes.to_torch(dtype))
    axes = _axes(axis)
    if axes is None:
        return _all_axes(torch.prod(x), x, keepdim)
    for one in sorted(((a % x.dim()) for a in (axes if isinstance(axes, tuple) else (axes,))), reverse=True):
        x = torch.prod(x, one, keepdim)
    return x


@_public
def std(x, axis=None, unbiased=True, keepdim=False):
    return torch.std(x, _axes(axis), correction=int(unbiased), keepdim=keepdim)


@_public
def var(x, axis=None, unbiased=True, keepdim=False):
    return torch.var(x, _axes(axis), correction=int(unbiased), keepdim=keepdim)


@_public
def median(x, axis=None, keepdim=False):
    """The mean of the two in the middle where their number is even."""
    return _all_axes(torch.quantile(x.reshape(-1), 0.5), x, keepdim) if axis is None else torch.quantile(x, 0.5, axis, keepdim)


@_public
def quantile(x, q, axis=None, keepdim=False):
    """In float64."""
    return torch.quantile(x.double(), torch.as_tensor(q, dtype=torch.float64), axis, keepdim)


@_public
def cumsum(x, axis=None, dtype=None):
    """Of the flattened tensor where axis is None."""
    chosen = None if dtype is None else dtypes.to_torch(dtype)
    return torch.cumsum(x.reshape(-1) if axis is None else x, axis or 0, dtype=chosen)


@_public
def cumprod(x, dim=None, dtype=None):
    return torch.cumprod(x, dim, dtype=None if dtype is None else dtypes.to_torch(dtype))


@_public
def logcumsumexp(x, axis=None):
    return torch.logcumsumexp(x.reshape(-1) if axis is None else x, axis or 0)


@_public
def add_n(inputs):
    """The sum of tensors of one shape."""
    total = inputs if isinstance(inputs, torch.Tensor) else inputs[0]
    for one in () if isinstance(inputs, torch.Tensor) else inputs[1:]:
        total = total + one
    return total


@_public
def scale(x, scale=1.0, bias=0.0, bias_after_scale=True, act=None):
    result = x * scale + bias if bias_after_scale else (x + bias) * scale
    return result if act is None else getattr(torch, act)(result)


@_public
def clip(x, min=None, max=None):
    return x if min is None and max is None else torch.clamp(x, min, max)


@_public
def increment(x, value=1.0):
    """Adds in place."""
    with torch.no_grad():
        return x.add_(value)


@_public
def stanh(x, scale_a=0.67, scale_b=1.7159):
    return scale_b * torch.tanh(scale_a * x)


@_public
def lerp(x, y, weight):
    return torch.lerp(x, y, weight)


@_public
def logit(x, eps=None):
    return torch.logit(x, eps)


@_public
def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    return torch.nan_to_num(x, nan, posinf, neginf)


@_public
def diff(x, n=1, axis=-1, prepend=None, append=None):
    return torch.diff(x, n, axis, prepend, append)


@_public
def equal_all(x, y):
    return torch.tensor(x.shape == y.shape and bool(torch.equal(x, y)))


@_public
def allclose(x, y, rtol=1e-05, atol=1e-08, equal_nan=False):
    return torch.tensor(torch.allclose(x, y, float(rtol), float(atol), equal_nan))


@_public
def isclose(x, y, rtol=1e-05, atol=1e-08, equal_nan=False):
    return torch.isclose(x, y, float(rtol), float(atol), equal_nan)


def _logical(name):
    of_torch = getattr(torch, name)

    def function(x, y=None, out=None):
        found = of_torch(x) if y is None else of_torch(x, y)
        return found if out is None else out.copy_(found)
    function.__name__ = function.__qualname__ = name
    FUNCTIONS[name] = computes(function)


for _name in ("logical_and", "logical_or", "logical_xor", "logical_not"):
    _logical(_name)
