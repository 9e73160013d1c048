"""Functions that are made of others, and so work in both graphs."""

import itertools

from argosy import dispatch
from argosy.errors import InvalidArgumentError

__all__ = [
    "combinations",
    "cumulative_trapezoid",
    "diagonal_scatter",
    "nanmedian",
    "nanquantile",
    "select_scatter",
    "shard_index",
    "trapezoid",
    "vander",
    "vsplit",
]


def _paddle():
    import argosy

    return argosy


def _constant(like, values, dtype=None):
    """An array as a tensor, or as a variable of the program that `like` is of."""
    if dispatch.holds_variable(like):
        from argosy.building.operators import constant

        return constant(values, dtype or str(values.dtype))
    return _paddle().to_tensor(values, dtype=dtype)


def _axis(x, axis, function):
    rank = len(x.shape)
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"{function}: axis={axis}, and x has {rank} axes; expected {-rank} to {rank - 1}")
    return axis % rank


def axis_of_three(shape, axis):
    """The axis of a vector product: 9 is the first of size 3."""
    if axis != 9:
        return axis
    if 3 not in list(shape):
        raise InvalidArgumentError(f"cross: no axis of shape {list(shape)} has size 3")
    return list(shape).index(3)


def vsplit(x, num_or_sections, name=None):
    """x in parts along its first axis: so many equal ones, or of the sizes given.

    >>> [part.shape for part in paddle.vsplit(paddle.zeros([4, 2]), 2)]
    [[2, 2], [2, 2]]
    """
    if len(x.shape) < 2:
        raise InvalidArgumentError(f"vsplit takes 2 axes or more; found shape {list(x.shape)}")
    return _paddle().split(x, num_or_sections, axis=0)


def vander(x, n=None, increasing=False, name=None):
    """Powers of a vector as columns, n of them: from x ** (n - 1) to 1, or the other way round.

    >>> paddle.vander(paddle.to_tensor([1.0, 2.0, 3.0]), 3).tolist()
    [[1.0, 1.0, 1.0], [4.0, 2.0, 1.0], [9.0, 3.0, 1.0]]
    """
    if len(x.shape) != 1:
        raise InvalidArgumentError(f"vander takes a vector; found shape {list(x.shape)}")
    n = x.shape[0] if n is None else n
    if n < 0:
        raise InvalidArgumentError(f"vander: n={n}; expected 0 or more (where the length is known only in a run, give it)")
    paddle, columns = _paddle(), []
    for _ in range(n):
        columns.append(paddle.ones_like(x) if not columns else columns[-1] * x)
    return paddle.stack(columns if increasing else columns[::-1], axis=1)


def _trapezoids(y, x, dx, axis, function):
    """The area below each piece between two neighbours along an axis."""
    paddle = _paddle()
    if x is not None and dx is not None:
        raise InvalidArgumentError(f"{function}: x are places and dx is their distance; give one of them")
    axis = _axis(y, axis, function)
    ends = y.shape[axis]
    left, right = (paddle.slice(y, [axis], [begin], [end]) for begin, end in ((0, ends - 1 if ends > 0 else -1), (1, ends if ends > 0 else 2**30)))
    if x is None:
        return (left + right) * (0.5 * (1.0 if dx is None else dx)), axis
    if len(x.shape) == 1 and len(y.shape) > 1:
        x = paddle.reshape(x, [-1 if i == axis else 1 for i in range(len(y.shape))])
    return (left + right) * (paddle.diff(x, axis=axis) * 0.5), axis


def trapezoid(y, x=None, dx=None, axis=-1, name=None):
    """The integral of y along an axis by the trapezoid rule: over the places x, or in steps of dx, 1 without either.

    >>> paddle.trapezoid(paddle.to_tensor([1.0, 2.0, 3.0]), dx=2.0).item()
    8.0
    """
    pieces, axis = _trapezoids(y, x, dx, axis, "trapezoid")
    return _paddle().sum(pieces, axis=axis)


def cumulative_trapezoid(y, x=None, dx=None, axis=-1, name=None):
    """The integral of y up to each place but the first, by the trapezoid rule, as in trapezoid.

    >>> paddle.cumulative_trapezoid(paddle.to_tensor([1.0, 2.0, 3.0])).tolist()
    [1.5, 4.0]
    """
    pieces, axis = _trapezoids(y, x, dx, axis, "cumulative_trapezoid")
    return _paddle().cumsum(pieces, axis=axis)


def combinations(x, r=2, with_replacement=False, name=None):
    """Every choice of r elements of a vector, one per row, in its order.

    >>> paddle.combinations(paddle.to_tensor([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    import numpy

    if len(x.shape) != 1 or x.shape[0] < 0:
        raise InvalidArgumentError(f"combinations takes a vector of known length; found shape {list(x.shape)}")
    if isinstance(r, bool) or not isinstance(r, int) or r < 0:
        raise InvalidArgumentError(f"combinations: r is a number, 0 or more; found {r!r}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = numpy.array(list(choose(range(x.shape[0]), r)), "int64").reshape(-1, r)
    if places.size == 0:
        return _paddle().reshape(_paddle().slice(x, [0], [0], [0]), [0, r])
    return _paddle().reshape(_paddle().gather(x, _constant(x, places.reshape(-1))), list(places.shape))


def shard_index(input, index_num, nshards, shard_id, ignore_value=-1):
    """Numbers from 0 to index_num - 1 as numbers within shard shard_id of nshards; those of other shards become ignore_value.

    >>> paddle.shard_index(paddle.to_tensor([[16], [1]]), index_num=20, nshards=2, shard_id=0).tolist()
    [[-1], [1]]
    """
    if not 0 <= shard_id < nshards:
        raise InvalidArgumentError(f"shard_index: shard_id={shard_id} of {nshards} shards; expected 0 to {nshards - 1}")
    paddle, size = _paddle(), (index_num + nshards - 1) // nshards
    ids = paddle.cast(input, "int64")
    whose, within = ids // size, ids % size
    found = paddle.where(whose == shard_id, within, paddle.full_like(within, ignore_value))
    return paddle.cast(found, input.dtype)


def _places_like(x, axis, index, value):
    """1 where an axis is at `index`, elsewhere 0, in a shape that spreads over x."""
    import numpy

    size = x.shape[axis]
    if size < 0:
        raise InvalidArgumentError(f"axis {axis} of shape {list(x.shape)} has no known size")
    if not -size <= index < size:
        raise InvalidArgumentError(f"index {index} is outside axis {axis} of size {size}")
    mask = numpy.zeros([size if i == axis else 1 for i in range(len(x.shape))], "float32")
    mask[tuple(index % size if i == axis else 0 for i in range(len(x.shape)))] = value
    return _paddle().cast(_constant(x, mask), x.dtype)


def select_scatter(x, values, axis, index, name=None):
    """x with `values` in the place of what is at `index` along an axis.

    >>> paddle.select_scatter(paddle.zeros([2, 3]), paddle.ones([3]), 0, 1).tolist()
    [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    """
    axis = _axis(x, axis, "select_scatter")
    there = _places_like(x, axis, index, 1)
    return x * (1 - there) + _paddle().unsqueeze(values, axis) * there


def diagonal_scatter(x, y, offset=0, axis1=0, axis2=1, name=None):
    """x with y on the diagonal of two axes, `offset` beside the middle one.

    >>> paddle.diagonal_scatter(paddle.zeros([2, 2]), paddle.ones([2])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return _paddle().fill_diagonal_tensor(x, y, offset, axis1, axis2)


def nanquantile(x, q, axis=None, keepdim=False):
    """The values below which the parts q of x along an axis lie, leaving out what is not a number; in double precision.

    >>> paddle.nanquantile(paddle.to_tensor([1.0, float("nan"), 3.0]), 0.5).item()
    2.0
    """
    paddle = _paddle()
    if isinstance(q, (list, tuple)):
        return paddle.stack([nanquantile(x, one, axis, keepdim) for one in q])
    if not 0 <= q <= 1:
        raise InvalidArgumentError(f"nanquantile: q={q}; expected 0 to 1")
    x = paddle.cast(x, "float64")
    rank = len(x.shape)
    axes = list(range(rank)) if axis is None else [_axis(x, one, "nanquantile") for one in (axis if isinstance(axis, (list, tuple)) else [axis])]
    others = [i for i in range(rank) if i not in axes]
    flat = paddle.transpose(x, [*others, *axes])
    flat = paddle.reshape(flat, [*([x.shape[i] for i in others]), -1])
    empty = paddle.isnan(flat)
    count = paddle.sum(paddle.cast(paddle.logical_not(empty), "float64"), axis=-1, keepdim=True)
    ordered = paddle.sort(paddle.where(empty, paddle.full_like(flat, float("inf")), flat), axis=-1)
    place = paddle.clip((count - 1) * float(q), min=0.0)
    low, high = (paddle.take_along_axis(ordered, paddle.cast(side(place), "int64"), len(others)) for side in (paddle.floor, paddle.ceil))
    share = place - paddle.floor(place)
    between = paddle.where(share > 0, low + (high - low) * share, low)
    found = paddle.where(count > 0, between, paddle.full_like(between, float("nan")))
    if keepdim:
        return paddle.reshape(found, [1 if i in axes else x.shape[i] for i in range(rank)])
    return paddle.squeeze(found, axis=-1)


def nanmedian(x, axis=None, keepdim=False, name=None):
    """The value in the middle along an axis, or along all, leaving out what is not a number; between the two middle ones their mean.

    >>> paddle.nanmedian(paddle.to_tensor([1.0, float("nan"), 3.0, 5.0])).item()
    3.0
    """
    return _paddle().cast(nanquantile(x, 0.5, axis, keepdim), x.dtype)
