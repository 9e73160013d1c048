"""Changes of shape: joins, cuts, axes."""

from argosy.building.operators import append
from argosy.dispatch import builds
from argosy.errors import InvalidArgumentError
from argosy.fluid import layers


@builds
def concat(x, axis=0, name=None):
    """The tensors of a list, one behind another along `axis`.

    >>> paddle.concat([paddle.to_tensor([1, 2]), paddle.to_tensor([3])]).tolist()
    [1, 2, 3]
    """
    return layers.concat(x, axis=axis, name=name)


@builds
def stack(x, axis=0, name=None):
    """The tensors of a list, which have one shape, along a new axis.

    >>> paddle.stack([paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])]).tolist()
    [[1, 2], [3, 4]]
    """
    return layers.stack(x, axis=axis)


@builds
def unstack(x, axis=0, num=None):
    """A list of the slices of x along `axis`, which is gone from them; the opposite of stack. `num`, where given, is their number.

    >>> [one.tolist() for one in paddle.unstack(paddle.to_tensor([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
    """
    return layers.unstack(x, axis=axis, num=num)


@builds
def unbind(input, axis=0):
    """A list of the slices of a tensor along `axis`, which is gone from them.

    >>> [one.tolist() for one in paddle.unbind(paddle.to_tensor([[1, 2], [3, 4]]), axis=1)]
    [[1, 3], [2, 4]]
    """
    return layers.unstack(input, axis=axis)


@builds
def split(x, num_or_sections, axis=0, name=None):
    """x in parts along `axis`: a number of equal ones, or by a list of sizes, of which one may be -1.

    >>> [one.tolist() for one in paddle.split(paddle.to_tensor([1, 2, 3]), [1, -1])]
    [[1], [2, 3]]
    """
    return layers.split(x, num_or_sections, dim=axis, name=name)


@builds
def chunk(x, chunks, axis=0, name=None):
    """x in a number of parts along `axis`.

    >>> [one.tolist() for one in paddle.chunk(paddle.to_tensor([1, 2, 3, 4]), 2)]
    [[1, 2], [3, 4]]
    """
    return layers.split(x, chunks, dim=axis, name=name)


@builds
def slice(input, axes, starts, ends):
    """input[starts:ends] along each of `axes`. Positions below 0 count from the end.

    >>> paddle.slice(paddle.to_tensor([1, 2, 3, 4]), axes=[0], starts=[1], ends=[3]).tolist()
    [2, 3]
    """
    return layers.slice(input, axes, starts, ends)


@builds
def reshape(x, shape, name=None):
    """x in another shape. -1 is what is left over, and 0 the size that is there.

    >>> paddle.reshape(paddle.arange(6), [2, -1]).tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    return layers.reshape(x, shape, name=name)


@builds
def transpose(x, perm, name=None):
    """x with its axes in the order `perm`.

    >>> paddle.transpose(paddle.zeros([2, 3, 4]), [2, 0, 1]).shape
    [4, 2, 3]
    """
    return layers.transpose(x, perm, name=name)


@builds
def t(input, name=None):
    """The transposed matrix; a vector or a number stays as it is.

    >>> paddle.t(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
    [[1, 3], [2, 4]]
    """
    if len(input.shape) > 2:
        raise InvalidArgumentError(f"paddle.t: a variable of at most 2 dimensions; '{input.name}' has shape {list(input.shape)}")
    return input if len(input.shape) < 2 else layers.transpose(input, [1, 0], name=name)


def _axes(axis):
    return [] if axis is None else list(axis) if isinstance(axis, (list, tuple)) else [axis]


@builds
def squeeze(x, axis=None, name=None):
    """x without axes of size 1: the given ones, a number or a list, or all.

    >>> paddle.squeeze(paddle.zeros([1, 3, 1]), 0).shape
    [3, 1]
    """
    return layers.squeeze(x, _axes(axis), name=name)


@builds
def unsqueeze(x, axis, name=None):
    """x with new axes of size 1 at the given places, a number or a list.

    >>> paddle.unsqueeze(paddle.zeros([3]), [0, 2]).shape
    [1, 3, 1]
    """
    return layers.unsqueeze(x, _axes(axis), name=name)


@builds
def flatten(x, start_axis=0, stop_axis=-1, name=None):
    """x with the axes from start_axis to stop_axis as one.

    >>> paddle.flatten(paddle.zeros([2, 3, 4]), start_axis=1).shape
    [2, 12]
    """
    rank = len(x.shape)
    first, last = start_axis % rank, stop_axis % rank
    if first > last:
        raise InvalidArgumentError(f"paddle.flatten: start_axis {start_axis} is behind stop_axis {stop_axis}")
    attrs = {"start_axis": start_axis, "stop_axis": stop_axis}
    out, shape = append("flatten_contiguous_range", {"X": x}, {"Out": x.dtype, "XShape": x.dtype}, attrs, name, "flatten")
    shape.stop_gradient = True
    return out


@builds
def tile(x, repeat_times, name=None):
    """x repeated along each axis as often as `repeat_times` says.

    >>> paddle.tile(paddle.to_tensor([1, 2]), [2, 2]).tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    return layers.expand(x, repeat_times, name=name)


@builds
def expand_as(x, y, name=None):
    """x repeated to the shape of y.

    >>> paddle.expand_as(paddle.to_tensor([1, 2]), paddle.zeros([2, 2])).tolist()
    [[1, 2], [1, 2]]
    """
    return layers.expand_as(x, y, name=name)


@builds
def flip(x, axis, name=None):
    """x with the order of its elements turned round along `axis`, a number or a list.

    >>> paddle.flip(paddle.to_tensor([1, 2, 3]), axis=0).tolist()
    [3, 2, 1]
    """
    return layers.reverse(x, axis)


@builds
def shape(input):
    """The sizes of a tensor, as a tensor; of a variable, those that it has in a run.

    >>> paddle.shape(paddle.zeros([2, 3])).tolist()
    [2, 3]
    """
    return layers.shape(input)


@builds
def numel(x, name=None):
    """The number of elements, as a tensor.

    >>> paddle.numel(paddle.zeros([2, 3])).item()
    6
    """
    return layers.size(x)
