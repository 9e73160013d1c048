"""Sums, means and norms along axes, and products of matrices."""

from typing import Any

from argosy import _core
from argosy import tensor as T
from argosy.building.elementwise import isnan, masked_fill
from argosy.errors import InvalidArgumentError
from argosy.fluid import layers


def amax(x, axis=None, keepdim=False, name=None):
    return T.max(x, axis, keepdim)


def amin(x, axis=None, keepdim=False, name=None):
    return T.min(x, axis, keepdim)


def logsumexp(x, axis=None, keepdim=False, name=None):
    largest = T.max(x, axis, True)
    largest.stop_gradient = True
    total = T.log(T.sum(T.exp(x - largest), axis, keepdim=True)) + largest
    return total if keepdim else T.reshape(total, [1]) if axis is None else T.squeeze(total, axis)


def count_nonzero(x, axis=None, keepdim=False, name=None):
    return T.sum(layers.cast(layers.not_equal(x, layers.zeros_like(x)), "int64"), axis, keepdim=keepdim)


def nansum(x, axis=None, dtype=None, keepdim=False, name=None):
    return T.sum(masked_fill(x, isnan(x), 0.0), axis, dtype, keepdim)


def nanmean(x, axis=None, keepdim=False, name=None):
    counted = T.sum(layers.cast(T.logical_not(isnan(x)), x.dtype), axis, keepdim=keepdim)
    return nansum(x, axis, None, keepdim) / counted


def _count(x, axis):
    """How many elements along axis there are: a variable."""
    return T.sum(layers.ones_like(x), axis, keepdim=True)


def var(x, axis=None, unbiased=True, keepdim=False, name=None):
    count = _count(x, axis)
    total = T.sum(T.square(x - T.mean(x, axis, True)), axis, keepdim=True)
    found = total / (T.clip(count - 1.0, 1.0, None) if unbiased else count)
    return found if keepdim else T.reshape(found, [1]) if axis is None else T.squeeze(found, axis)


def std(x, axis=None, unbiased=True, keepdim=False, name=None):
    return T.sqrt(var(x, axis, unbiased, keepdim))


def norm(x, p: Any = None, axis=None, keepdim=False, name=None):
    if p in (None, "fro", 2):
        return T.sqrt(T.sum(T.square(x), axis, keepdim=keepdim))
    if p in (float("inf"), float("-inf")):
        return (T.max if p > 0 else T.min)(T.abs(x), axis, keepdim)
    if p == 0:
        return layers.cast(count_nonzero(x, axis, keepdim), x.dtype)
    if not isinstance(p, (int, float)):
        raise InvalidArgumentError(f"norm: p is a number, 'fro' or an infinity for variables; found {p!r}")
    return T.pow(T.sum(T.pow(T.abs(x), float(p)), axis, keepdim=keepdim), 1 / p)


def dist(x, y, p=2, name=None):
    return norm(x - y, p)


def addmm(input, x, y, beta=1.0, alpha=1.0, name=None):
    return input * beta + T.matmul(x, y) * alpha


def mv(x, vec, name=None):
    return T.matmul(x, vec)


def inner(x, y, name=None):
    return T.matmul(x, y, transpose_y=len(y.shape) > 1)


def outer(x, y, name=None):
    return T.matmul(T.reshape(x, [-1, 1]), T.reshape(y, [1, -1]))


def multiplex(inputs, index, name=None):
    from argosy.building.shapes import positions

    rows = layers.reshape(layers.cast(index, "int64"), [-1])
    return layers.gather_nd(layers.stack(inputs, axis=0), layers.stack([rows, positions(rows, 0)], axis=-1))


def bernoulli(x, name=None):
    drawn = _uniform_like(x)
    return layers.cast(layers.less_than(drawn, x), x.dtype)


def _uniform_like(x):
    found = layers.uniform_random(layers.shape(x), _core.dtype_name(x.dtype), 0.0, 1.0)
    found.stop_gradient = True
    return found


def randint_like(x, low=0, high=None, dtype=None, name=None):
    low, high = (0, low) if high is None else (low, high)
    drawn = T.floor(layers.uniform_random(layers.shape(x), "float32", float(low), float(high)))
    found = layers.cast(T.clip(drawn, float(low), float(high - 1)), dtype or x.dtype)
    found.stop_gradient = True
    return found


def multinomial(x, num_samples=1, replacement=False, name=None):
    """Of log(weight) plus Gumbel's noise the largest are a draw: the num_samples largest without replacement."""
    x = layers.cast(x, "float32")
    if replacement and num_samples > 1:
        x = layers.expand(layers.unsqueeze(x, [len(x.shape) - 1]), [1] * (len(x.shape) - 1) + [num_samples, 1])
    noise = -T.log(-T.log(T.clip(_uniform_like(x), 1e-20, 1 - 1e-7)))
    keys = T.log(T.clip(x, 1e-38, None)) + noise
    found = T.argmax(keys, axis=-1) if replacement and num_samples > 1 else T.topk(keys, num_samples)[1]
    found.stop_gradient = True
    return found
