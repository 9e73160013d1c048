"""Reductions, sums along an axis, and arithmetic with options."""

from typing import Any

import torch

from argosy import _core
from argosy.dynamic import dtypes
from argosy.dynamic.calls import computes

_entries = _core.on_tensors


def _axes(axis):
    """None and () are all axes."""
    return None if axis is None or (isinstance(axis, (list, tuple)) and not axis) else tuple(axis) if isinstance(axis, list) else axis


def _reduced(of_torch, x, axis, keepdim):
    axes = _axes(axis)
    return of_torch(x, tuple(range(x.dim())) if axes is None else axes, keepdim)


def _mean(x, axes, keepdim):
    """Of whole numbers it is one, rounded towards 0, and of booleans whether any is True."""
    if x.is_floating_point() or x.is_complex():
        return torch.mean(x, axes, keepdim)
    return torch.mean(x.double(), axes, keepdim).to(x.dtype)


@computes
def mean(x, axis=None, keepdim=False, name=None):
    return _reduced(_mean, x, axis, keepdim)


@computes
def max(x, axis=None, keepdim=False, name=None):
    return _reduced(torch.amax, x, axis, keepdim)


@computes
def min(x, axis=None, keepdim=False, name=None):
    return _reduced(torch.amin, x, axis, keepdim)


@computes
def amax(x, axis=None, keepdim=False, name=None):
    """The largest element along `axis`, a number or a list; of all elements where it is None. Equal ones share the gradient.

    >>> paddle.amax(paddle.to_tensor([[1.0, 5.0], [7.0, 2.0]]), axis=1).tolist()
    [5.0, 7.0]
    """
    return _reduced(torch.amax, x, axis, keepdim)


@computes
def amin(x, axis=None, keepdim=False, name=None):
    """The smallest element along `axis`, a number or a list; of all elements where it is None. Equal ones share the gradient.

    >>> paddle.amin(paddle.to_tensor([[1.0, 5.0], [7.0, 2.0]]), axis=1).tolist()
    [1.0, 2.0]
    """
    return _reduced(torch.amin, x, axis, keepdim)


@computes
def all(x, axis=None, keepdim=False, name=None):
    return _reduced(torch.all, x, axis, keepdim)


@computes
def any(x, axis=None, keepdim=False, name=None):
    return _reduced(torch.any, x, axis, keepdim)


@computes
def logsumexp(x, axis=None, keepdim=False, name=None):
    """log(sum(exp(x))) along `axis`, a number or a list; over all elements where it is None. It does not overflow.

    >>> print(paddle.logsumexp(paddle.to_tensor([0.0, 0.0])).numpy())
    0.6931472
    """
    return _reduced(torch.logsumexp, x, axis, keepdim)


@computes
def nanmean(x, axis=None, keepdim=False, name=None):
    """The mean along `axis` of the elements that are not nan; of all where it is None.

    >>> paddle.nanmean(paddle.to_tensor([1.0, float("nan"), 3.0])).item()
    2.0
    """
    return _reduced(torch.nanmean if x.is_floating_point() else _mean, x, axis, keepdim)


@computes
def count_nonzero(x, axis=None, keepdim=False, name=None):
    """How many elements along `axis` are not 0; of all where it is None.

    >>> paddle.count_nonzero(paddle.to_tensor([[0, 1], [2, 3]]), axis=1).tolist()
    [1, 2]
    """
    return _reduced(torch.sum, x != 0, axis, keepdim)


@computes
def round(x, name=None):
    return _entries.round(x)


def _is_whole(x):
    return isinstance(x, torch.Tensor) and not x.is_floating_point() and not x.is_complex()


@computes
def divide(x, y, name=None):
    return torch.div(x, y, rounding_mode="trunc") if _is_whole(x) and _is_whole(y) else torch.true_divide(x, y)


@computes
def floor_divide(x, y, name=None):
    return torch.div(x, y, rounding_mode="floor")


@computes
def pow(x, y, name=None):
    return torch.pow(x, y)


@computes
def sum(x, axis=None, dtype=None, keepdim=False, name=None):
    chosen = None if dtype is None else dtypes.to_torch(dtype)
    return torch.sum(x, _axes(axis), keepdim, dtype=chosen) if axis is not None else _all_axes(torch.sum(x, dtype=chosen), x, keepdim)


@computes
def nansum(x, axis=None, dtype=None, keepdim=False, name=None):
    """The sum along `axis`, in `dtype` where one is given, with nan counted as 0; of all elements where axis is None.

    >>> paddle.nansum(paddle.to_tensor([1.0, float("nan"), 3.0])).item()
    4.0
    """
    chosen = None if dtype is None else dtypes.to_torch(dtype)
    return torch.nansum(x, _axes(axis), keepdim, dtype=chosen)


def _all_axes(value, x, keepdim):
    return value.reshape([1] * x.dim()) if keepdim else value


@computes
def prod(x, axis=None, keepdim=False, dtype=None, name=None):
    x = x if dtype is None else x.to(dtypes.to_torch(dtype))
    axes = _axes(axis)
    if axes is None:
        return _all_axes(torch.prod(x), x, keepdim)
    for one in sorted(((a % x.dim()) for a in (axes if isinstance(axes, tuple) else (axes,))), reverse=True):
        x = torch.prod(x, one, keepdim)
    return x


@computes
def std(x, axis=None, unbiased=True, keepdim=False, name=None):
    """The standard deviation along `axis`; of all elements where it is None. unbiased divides by n - 1, otherwise by n.

    >>> print(paddle.std(paddle.to_tensor([1.0, 2.0, 3.0])).numpy())
    1.0
    """
    return torch.std(x, _axes(axis), correction=int(unbiased), keepdim=keepdim)


@computes
def var(x, axis=None, unbiased=True, keepdim=False, name=None):
    """The variance along `axis`; of all elements where it is None. unbiased divides by n - 1, otherwise by n.

    >>> print(paddle.var(paddle.to_tensor([1.0, 2.0, 3.0])).numpy())
    1.0
    """
    return torch.var(x, _axes(axis), correction=int(unbiased), keepdim=keepdim)


@computes
def median(x, axis=None, keepdim=False, name=None):
    """The middle value along `axis`, the mean of the two in the middle where their number is even; of all elements where axis is None.

    >>> paddle.median(paddle.to_tensor([4.0, 1.0, 3.0, 2.0])).item()
    2.5
    """
    x = x if x.is_floating_point() else x.float()
    return _all_axes(torch.quantile(x.reshape(-1), 0.5), x, keepdim) if axis is None else torch.quantile(x, 0.5, axis, keepdim)


@computes
def quantile(x, q, axis=None, keepdim=False, name=None):
    """The value below which a share `q` of the elements along `axis` lies, in float64. q may be a list: its values are the first axis of the result.

    >>> paddle.quantile(paddle.to_tensor([0.0, 1.0, 2.0]), 0.25).item()
    0.5
    """
    return torch.quantile(x.double(), torch.as_tensor(q, dtype=torch.float64), axis, keepdim)


@computes
def cumsum(x, axis=None, dtype=None, name=None):
    chosen = None if dtype is None else dtypes.to_torch(dtype)
    return torch.cumsum(x.reshape(-1) if axis is None else x, axis or 0, dtype=chosen)


@computes
def cumprod(x, dim: Any = None, dtype=None, name=None):
    """Products of all elements up to each one along `dim`, in `dtype` where one is given.

    >>> paddle.cumprod(paddle.to_tensor([1, 2, 3, 4]), dim=0).tolist()
    [1, 2, 6, 24]
    """
    return torch.cumprod(x, dim, dtype=None if dtype is None else dtypes.to_torch(dtype))


@computes
def logcumsumexp(x, axis=None, name=None):
    """log of the sum of exp(x) up to each element along `axis`; of the flattened tensor where axis is None.

    >>> print(paddle.logcumsumexp(paddle.to_tensor([0.0, 0.0, 0.0])).numpy())
    [0.        0.6931472 1.0986123]
    """
    return torch.logcumsumexp(x.reshape(-1) if axis is None else x, axis or 0)


@computes
def add_n(inputs, name=None):
    total = inputs if isinstance(inputs, torch.Tensor) else inputs[0]
    for one in () if isinstance(inputs, torch.Tensor) else inputs[1:]:
        total = total + one
    return total


@computes
def scale(x, scale=1.0, bias=0.0, bias_after_scale=True, act=None, name=None):
    result = x * scale + bias if bias_after_scale else (x + bias) * scale
    return result if act is None else getattr(torch, act)(result)


@computes
def clip(x, min=None, max=None, name=None):
    return x if min is None and max is None else torch.clamp(x, min, max)


@computes
def increment(x, value=1.0, name=None):
    with torch.no_grad():
        return x.add_(value)


@computes
def stanh(x, scale_a=0.67, scale_b=1.7159, name=None):
    """scale_b * tanh(scale_a * x) of each element.

    >>> print(paddle.stanh(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.       1.003767]
    """
    return scale_b * torch.tanh(scale_a * x)


@computes
def lerp(x, y, weight, name=None):
    """x + weight * (y - x): the point between x and y; weight is a number or a tensor.

    >>> print(paddle.lerp(paddle.to_tensor([0.0, 10.0]), paddle.to_tensor([10.0, 20.0]), 0.5).numpy())
    [ 5. 15.]
    """
    return torch.lerp(x, y, weight)


@computes
def logit(x, eps=None, name=None):
    """log(x / (1 - x)) of each element; eps, where given, first limits x to [eps, 1 - eps].

    >>> print(paddle.logit(paddle.to_tensor([0.5, 0.75])).numpy())
    [0.        1.0986123]
    """
    return torch.logit(x, eps)


@computes
def nan_to_num(x, nan=0.0, posinf=None, neginf=None, name=None):
    """x with `nan`, `posinf` and `neginf` in place of what is no number; infinite ones become the type's largest and smallest unless given.

    >>> print(paddle.nan_to_num(paddle.to_tensor([float("nan"), 2.0]), nan=-1.0).numpy())
    [-1.  2.]
    """
    return torch.nan_to_num(x, nan, posinf, neginf)


@computes
def diff(x, n=1, axis=-1, prepend=None, append=None, name=None):
    """Differences of neighbours along `axis`, taken n times; `prepend` and `append` are put at the ends first.

    >>> paddle.diff(paddle.to_tensor([1, 4, 9, 16])).tolist()
    [3, 5, 7]
    """
    return torch.diff(x, n, axis, prepend, append)


@computes
def equal_all(x, y, name=None):
    """Whether x and y have the same shape and the same elements, as a boolean tensor.

    >>> paddle.equal_all(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 2])).item()
    True
    """
    return torch.tensor(x.shape == y.shape and bool(torch.equal(x, y)))


@computes
def allclose(x, y, rtol=1e-05, atol=1e-08, equal_nan=False, name=None):
    """Whether all elements differ by at most atol + rtol * |y|, as a boolean tensor; nan equals nan where equal_nan.

    >>> paddle.allclose(paddle.to_tensor([1.0]), paddle.to_tensor([1.000001])).item()
    True
    """
    return torch.tensor(torch.allclose(x, y, float(rtol), float(atol), equal_nan))


@computes
def isclose(x, y, rtol=1e-05, atol=1e-08, equal_nan=False, name=None):
    """Whether each pair of elements differs by at most atol + rtol * |y|; nan equals nan where equal_nan. Returns booleans.

    >>> paddle.isclose(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 2.1])).tolist()
    [True, False]
    """
    return torch.isclose(x, y, float(rtol), float(atol), equal_nan)


def _written(found, out):
    return found if out is None else out.copy_(found)


@computes
def logical_and(x, y, out=None, name=None):
    return _written(torch.logical_and(x, y), out)


@computes
def logical_or(x, y, out=None, name=None):
    return _written(torch.logical_or(x, y), out)


@computes
def logical_xor(x, y, out=None, name=None):
    return _written(torch.logical_xor(x, y), out)


@computes
def logical_not(x, out=None, name=None):
    return _written(torch.logical_not(x), out)
