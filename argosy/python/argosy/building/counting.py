"""Quantiles."""

from argosy import _core
from argosy import tensor as T
from argosy.building.elementwise import isnan, masked_fill
from argosy.building.operators import constant, sizes_of
from argosy.building.shapes import broadcast_to_like, moveaxis
from argosy.fluid import layers

__all__ = ["quantile"]


def _between(ordered, shares, axis):
    """The values at `shares` of the length of `axis`, in place of that axis."""
    (size,) = sizes_of(ordered, [axis])
    last = layers.cast(size, "float64") - 1.0 if isinstance(size, _core.Variable) else float(size - 1)
    places = constant(shares, "float64") * last
    low, high = (T.gather(ordered, layers.cast(side(places), "int64"), axis=axis) for side in (T.floor, T.ceil))
    share = T.reshape(places - T.floor(places), [-1 if i == axis else 1 for i in range(len(ordered.shape))])
    return low + (high - low) * share


def quantile(x, q, axis=None, keepdim=False, name=None):
    rank, alone = len(x.shape), isinstance(q, (int, float))
    x = layers.cast(x, "float64")
    x, place = (layers.reshape(x, [-1]), 0) if axis is None else (x, axis % rank)
    found = _between(T.sort(x, place), [q] if alone else list(q), place)
    unknown = T.any(isnan(x), place, True)
    found = masked_fill(found, broadcast_to_like(unknown, found), float("nan"))
    if axis is None:
        return T.reshape(found, ([] if alone else [-1]) + [1] * rank) if keepdim else found
    if alone:
        return found if keepdim else layers.squeeze(found, [place])
    found = moveaxis(found, place, 0)
    return layers.unsqueeze(found, [place + 1]) if keepdim else found
