"""Changes of shape, and elements by position."""

from argosy import _core
from argosy import tensor as T
from argosy.building.operators import append, constant, sizes_of
from argosy.errors import InvalidArgumentError
from argosy.fluid import layers


def clone(x, name=None):
    return layers.assign(x)


def expand(x, shape, name=None):
    if isinstance(shape, _core.Variable):
        return append("expand_v2", {"X": x, "Shape": shape}, {"Out": x.dtype}, {}, name)[0]
    if any(isinstance(size, _core.Variable) for size in shape):
        sizes = [layers.cast(size, "int32") if isinstance(size, _core.Variable) else layers.fill_constant([1], "int32", size) for size in shape]
        known = [-1 if isinstance(size, _core.Variable) else int(size) for size in shape]
        return append("expand_v2", {"X": x, "expand_shapes_tensor": sizes}, {"Out": x.dtype}, {"shape": known}, name)[0]
    return append("expand_v2", {"X": x}, {"Out": x.dtype}, {"shape": [int(size) for size in shape]}, name)[0]


broadcast_to = expand


def broadcast_to_like(x, y):
    """x in the shape of y, where it is not."""
    return x if list(x.shape) == list(y.shape) else append("expand_as_v2", {"X": x, "Y": y}, {"Out": x.dtype}, {})[0]


def broadcast_tensors(input, name=None):
    whole = input[0]
    for one in input[1:]:
        whole = layers.cast(layers.zeros_like(whole), "float32") + layers.cast(layers.zeros_like(one), "float32")
    return [broadcast_to_like(one, whole) for one in input]


def moveaxis(x, source, destination, name=None):
    rank = len(x.shape)
    given, wanted = ([axis % rank for axis in ([axes] if isinstance(axes, int) else axes)] for axes in (source, destination))
    rest = iter(axis for axis in range(rank) if axis not in given)
    placed = dict(zip(wanted, given, strict=True))
    return layers.transpose(x, [placed[axis] if axis in placed else next(rest) for axis in range(rank)])


def view(x, shape_or_dtype, name=None):
    return T.reshape(x, shape_or_dtype) if isinstance(shape_or_dtype, (list, tuple)) else layers.cast(x, shape_or_dtype)


def view_as(x, other, name=None):
    return T.reshape(x, layers.shape(other))


def unflatten(x, axis, shape, name=None):
    axis %= len(x.shape)
    before = sizes_of(x, range(axis))
    return T.reshape(x, [*([0] * len(before)), *shape, *sizes_of(x, range(axis + 1, len(x.shape)))])


def reverse(x, axis, name=None):
    return layers.reverse(x, axis)


def strided_slice(x, axes, starts, ends, strides, name=None):
    return layers.strided_slice(x, axes, starts, ends, strides)


def roll(x, shifts, axis=None, name=None):
    if axis is None:
        return T.reshape(roll(layers.reshape(x, [-1]), shifts, 0), layers.shape(x))
    for shift, one in zip(*([given] if isinstance(given, int) else given for given in (shifts, axis)), strict=True):
        x = x if shift == 0 else layers.concat([layers.slice(x, [one], [-shift], [10000000]), layers.slice(x, [one], [0], [-shift])], axis=one)
    return x


def repeat_interleave(x, repeats, axis=None, name=None):
    if not isinstance(repeats, int):
        raise InvalidArgumentError(f"repeat_interleave: repeats is a number for variables; found {type(repeats).__name__}")
    x, axis = (layers.reshape(x, [-1]), 0) if axis is None else (x, axis % len(x.shape))
    times = [1] * (len(x.shape) + 1)
    times[axis + 1] = repeats
    return T.flatten(layers.expand(layers.unsqueeze(x, [axis + 1]), times), axis, axis + 1)


def positions(x, axis):
    """Of each element of x, its place along `axis`."""
    return layers.cumsum(layers.cast(layers.ones_like(x), "int64"), axis=axis) - 1


def take_along_axis(arr, indices, axis, broadcast=True, name=None):
    axis %= len(arr.shape)
    if broadcast:
        parts = [list(arr.shape), list(indices.shape)]
        wanted = sizes_of(arr, range(len(arr.shape)))
        wanted[axis] = sizes_of(indices, [axis])[0]
        same = all(a == b for i, (a, b) in enumerate(zip(*parts, strict=True)) if i != axis)
        indices = indices if same else expand(indices, wanted)
    places = [layers.cast(indices, "int64") if i == axis else positions(indices, i) for i in range(len(arr.shape))]
    return layers.gather_nd(arr, layers.stack(places, axis=-1))


def index_sample(x, index, name=None):
    return take_along_axis(x, index, 1, False)


def masked_select(x, mask, name=None):
    return layers.gather_nd(x, T.nonzero(broadcast_to_like(mask, x)))


def _corner(x, diagonal, lower):
    """1 on the kept side of the diagonal and 0 elsewhere, for the last two axes of x."""
    import numpy

    rows, columns = x.shape[-2:]
    if rows < 0 or columns < 0:
        ones = layers.cast(layers.ones_like(x), "int64")
        distance = layers.cumsum(ones, axis=-1) - layers.cumsum(ones, axis=len(x.shape) - 2)
        limit = layers.fill_constant([1], "int64", diagonal)
        return layers.cast(layers.less_equal(distance, limit) if lower else layers.greater_equal(distance, limit), x.dtype)
    kept = numpy.tri(rows, columns, diagonal) if lower else 1 - numpy.tri(rows, columns, diagonal - 1)
    return constant(kept.astype("float32"), x.dtype)


def tril(x, diagonal=0, name=None):
    return x * _corner(x, diagonal, True)


def triu(x, diagonal=0, name=None):
    return x * _corner(x, diagonal, False)


def meshgrid(*args, name=None):
    given = list(args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args)
    axes = range(len(given))
    return broadcast_tensors([layers.unsqueeze(one, [axis for axis in axes if axis != i]) for i, one in enumerate(given)])


def diff(x, n=1, axis=-1, prepend=None, append=None, name=None):
    given = [one for one in (prepend, x, append) if one is not None]
    x = layers.concat(given, axis=axis) if len(given) > 1 else x
    for _ in range(n):
        x = layers.slice(x, [axis], [1], [10000000]) - layers.slice(x, [axis], [0], [-1])
    return x


def diagonal(x, offset=0, axis1=0, axis2=1, name=None):
    x = moveaxis(x, [axis1, axis2], [-2, -1])
    rows, columns = x.shape[-2:]
    if rows < 0 or columns < 0:
        raise InvalidArgumentError(f"diagonal: the sizes of both axes are known when the program is built; '{x.name}' has shape {list(x.shape)}")
    places = [row * columns + row + offset for row in range(rows) if 0 <= row + offset < columns]
    return T.gather(T.flatten(x, -2, -1), constant(places, "int64"), axis=len(x.shape) - 2)


def trace(x, offset=0, axis1=0, axis2=1, name=None):
    return T.sum(diagonal(x, offset, axis1, axis2), axis=-1)


def rank(input):
    return layers.fill_constant([1], "int32", len(input.shape))


def empty_like(x, dtype=None, name=None):
    return T.zeros_like(x, dtype)


def is_empty(x, name=None):
    return layers.equal(layers.size(x), layers.fill_constant([1], "int64", 0))


def is_floating_point(x):
    return "float" in _core.dtype_name(x.dtype)


def is_integer(x):
    return "int" in _core.dtype_name(x.dtype)


def is_complex(x):
    return False
