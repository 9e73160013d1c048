"""Writing by position, order, and matrices made of vectors."""

from typing import Any

from argosy import _core
from argosy import tensor as T
from argosy.building.elementwise import isnan
from argosy.building.operators import constant, sizes_of
from argosy.building.reductions import norm
from argosy.building.shapes import diagonal, expand, moveaxis, positions, take_along_axis
from argosy.errors import InvalidArgumentError
from argosy.fluid import layers
from argosy.tensor.composed import axis_of_three


def _known(x, axis, what):
    """A size that the program must know."""
    if x.shape[axis] < 0:
        raise InvalidArgumentError(f"{what}: the size of axis {axis} is known when the program is built; '{x.name}' has shape {list(x.shape)}")
    return x.shape[axis]


def _each(inputs, function):
    found = [function(one) for one in inputs]
    return found if len(found) > 1 else found[0]


def _variables(inputs):
    return [one if isinstance(one, _core.Variable) else constant([one]) for one in inputs]


def atleast_1d(*inputs, name=None):
    return _each(_variables(inputs), lambda x: x)  # a program's variables have an axis at least


def atleast_2d(*inputs, name=None):
    return _each(_variables(inputs), lambda x: x if len(x.shape) > 1 else layers.unsqueeze(x, [0]))


def atleast_3d(*inputs, name=None):
    return _each(_variables(inputs), lambda x: layers.unsqueeze(x, {1: [0, 2], 2: [2]}[len(x.shape)]) if len(x.shape) < 3 else x)


def cross(x, y, axis=9, name=None):
    axis = axis_of_three(x.shape, axis)
    a, b = ([layers.slice(one, [axis], [i], [i + 1]) for i in range(3)] for one in (x, y))
    return layers.concat([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], axis=axis)


def cumprod(x, dim=None, dtype=None, name=None):
    x = x if dtype is None else layers.cast(x, dtype)
    x, axis = (layers.reshape(x, [-1]), 0) if dim is None else (x, dim % len(x.shape))
    found = layers.unstack(x, axis=axis, num=_known(x, axis, "cumprod"))
    for i in range(1, len(found)):
        found[i] = found[i - 1] * found[i]
    return layers.stack(found, axis=axis)


def logcumsumexp(x, axis=None, name=None):
    x, axis = (layers.reshape(x, [-1]), 0) if axis is None else (x, axis)
    largest = T.max(x, axis, True)
    largest.stop_gradient = True
    return T.log(layers.cumsum(T.exp(x - largest), axis=axis)) + largest


def diag_embed(input, offset=0, dim1=-2, dim2=-1, name=None):
    import numpy

    size, rank = _known(input, -1, "diag_embed"), len(input.shape)
    whole = layers.unsqueeze(input, [rank]) * constant(numpy.eye(size, dtype="float32"), input.dtype)
    if offset:
        widths = [max(-offset, 0), max(offset, 0), max(offset, 0), max(-offset, 0)]
        whole = layers.pad(whole, [0, 0] * (rank - 1) + widths)
    return moveaxis(whole, [-2, -1], [dim1 % (rank + 1), dim2 % (rank + 1)])


def diag(x, offset=0, padding_value=0, name=None):
    import numpy

    if len(x.shape) > 1:
        return diagonal(x, offset)
    found = diag_embed(x, offset)
    side = x.shape[0] + abs(offset)
    rest = 1 - numpy.eye(side, k=offset, dtype="float32")
    return found + constant(rest * padding_value, x.dtype) if padding_value else found


def diagflat(x, offset=0, name=None):
    return diag_embed(T.flatten(x), offset)


def _without_nan(x, y, function):
    return layers.where(isnan(x), y, layers.where(isnan(y), x, function(x, y)))


def fmax(x, y, name=None):
    return _without_nan(x, y, T.maximum)


def fmin(x, y, name=None):
    return _without_nan(x, y, T.minimum)


def ldexp(x, y, name=None):
    return layers.cast(x, "float32") * 2.0 ** layers.cast(y, "float32")


def conj(x, name=None):
    return layers.assign(x)


real = conj  # programs have no complex numbers


def kron(x, y, name=None):
    rank = max(len(x.shape), len(y.shape))
    x, y = (layers.unsqueeze(one, list(range(rank - len(one.shape)))) if len(one.shape) < rank else one for one in (x, y))
    sizes = [_known(x, i, "kron") * _known(y, i, "kron") for i in range(rank)]
    product = layers.unsqueeze(x, [2 * i + 1 for i in range(rank)]) * layers.unsqueeze(y, [2 * i for i in range(rank)])
    return layers.reshape(product, sizes)


def crop(x, shape=None, offsets=None, name=None):
    axes = list(range(len(x.shape)))
    starts = [0] * len(axes) if offsets is None else list(offsets)
    sizes = list(x.shape) if shape is None else list(shape)
    return layers.slice(x, axes, starts, [start + size if size >= 0 else 10000000 for start, size in zip(starts, sizes, strict=True)])


def take(x, index, mode="raise", name=None):
    flat, index = layers.reshape(x, [-1]), layers.cast(index, "int64")
    count = layers.size(x)
    chosen = {
        "raise": lambda: index + count * layers.cast(index < 0, "int64"),
        "wrap": lambda: T.mod(index, count),
        "clip": lambda: T.minimum(T.maximum(index, layers.zeros_like(index)), count - 1),
    }[mode]()
    return T.reshape(layers.gather(flat, layers.reshape(chosen, [-1]), overwrite=False), sizes_of(index, range(len(index.shape))))


def rot90(x, k=1, axes=(0, 1), name=None):
    first, second = axes
    order = list(range(len(x.shape)))
    order[first], order[second] = order[second], order[first]
    turns = {
        0: lambda: x,
        1: lambda: layers.transpose(layers.reverse(x, second), order),
        2: lambda: layers.reverse(x, [first, second]),
        3: lambda: layers.reverse(layers.transpose(x, order), second),
    }
    return turns[k % 4]()


def cdist(x, y, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary", name=None):
    rank = len(x.shape)
    return norm(layers.unsqueeze(x, [rank - 1]) - layers.unsqueeze(y, [rank - 2]), p, -1)


def searchsorted(sorted_sequence, values, out_int32=False, right=False, name=None):
    border, given = layers.unsqueeze(sorted_sequence, [len(sorted_sequence.shape) - 1]), layers.unsqueeze(values, [len(values.shape)])
    below = T.less_equal(border, given) if right else T.less_than(border, given)
    return T.sum(layers.cast(below, "int32" if out_int32 else "int64"), -1)


def bucketize(x, sorted_sequence, out_int32=False, right=False, name=None):
    given = layers.unsqueeze(x, [len(x.shape)])
    below = T.less_equal(sorted_sequence, given) if right else T.less_than(sorted_sequence, given)
    return T.sum(layers.cast(below, "int32" if out_int32 else "int64"), -1)


def kthvalue(x, k, axis=None, keepdim=False, name=None):
    axis = len(x.shape) - 1 if axis is None else axis % len(x.shape)
    place = layers.slice(layers.argsort(x, axis=axis)[1], [axis], [k - 1], [k])
    found = [take_along_axis(x, place, axis, False), place]
    return tuple(found if keepdim else (layers.squeeze(one, [axis]) for one in found))


def median(x, axis=None, keepdim=False, name=None):
    rank = len(x.shape)
    x = layers.cast(x, "float32") if _core.dtype_name(x.dtype).startswith("int") else x
    x, place = (layers.reshape(x, [-1]), 0) if axis is None else (x, axis % rank)
    size = _known(x, place, "median")
    middle = layers.slice(T.sort(x, place), [place], [(size - 1) // 2], [size // 2 + 1])
    found = T.mean(middle, place, keepdim and axis is not None)
    return T.reshape(found, [1] * rank) if axis is None and keepdim else found


def _flat_places(index, sizes):
    """Places in a flattened array of `sizes`, of positions in the last axis of `index`."""
    last = len(index.shape) - 1
    place: Any = layers.slice(index, [last], [0], [1])
    for i, size in enumerate(sizes[1:], 1):
        place = place * (layers.cast(size, "int64") if isinstance(size, _core.Variable) else size) + layers.slice(index, [last], [i], [i + 1])
    return layers.reshape(place, [-1])


def scatter_nd_add(x, index, updates, name=None):
    depth, index = index.shape[-1], layers.cast(index, "int64")
    rest = sizes_of(x, range(depth, len(x.shape)))
    rows = T.reshape(x, [-1, *rest])
    added = layers.scatter(layers.zeros_like(rows), _flat_places(index, sizes_of(x, range(depth))), T.reshape(updates, [-1, *rest]), overwrite=False)
    return T.reshape(rows + added, sizes_of(x, range(len(x.shape))))


def scatter_nd(index, updates, shape, name=None):
    return scatter_nd_add(layers.fill_constant(list(shape), _core.dtype_name(updates.dtype), 0), index, updates)


def _rows_first(x, axis, change):
    """change(x with `axis` in front), with the axis in its place again."""
    return moveaxis(change(moveaxis(x, axis, 0)), 0, axis)


def index_add(x, index, axis, value, name=None):
    added = moveaxis(value, axis, 0)
    return _rows_first(x, axis, lambda rows: rows + layers.scatter(layers.zeros_like(rows), index, added, overwrite=False))


def index_fill(x, index, axis, value, name=None):
    def change(rows):
        chosen = layers.gather(rows, index, overwrite=False)
        return layers.scatter(rows, index, layers.scale(layers.zeros_like(chosen), bias=float(value)))

    return _rows_first(x, axis, change)


def put_along_axis(arr, indices, values, axis, reduce="assign", include_self=True, broadcast=True, name=None):
    if reduce not in ("assign", "add") or not include_self:
        raise InvalidArgumentError(f"put_along_axis: reduce is 'assign' or 'add' for variables, with what was there; found {reduce!r}")
    rank, indices = len(arr.shape), layers.cast(indices, "int64")
    places = [indices if i == axis % rank else positions(indices, i) for i in range(rank)]
    flat = _flat_places(layers.stack(places, axis=-1), sizes_of(arr, range(rank)))
    given = values if isinstance(values, _core.Variable) else constant([values], arr.dtype)
    given = layers.reshape(expand(given, sizes_of(indices, range(rank))), [-1])
    whole = layers.reshape(arr, [-1])
    found = layers.scatter(whole, flat, given) if reduce == "assign" else whole + layers.scatter(layers.zeros_like(whole), flat, given, overwrite=False)
    return T.reshape(found, sizes_of(arr, range(rank)))
