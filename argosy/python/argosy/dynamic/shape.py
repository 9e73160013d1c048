"""Tensors of other shapes: joined, cut, turned and repeated."""

import builtins  # some of whose names are functions below
from typing import Any

import torch

from argosy.dynamic import dtypes
from argosy.dynamic.calls import computes
from argosy.dynamic.indexing import picked
from argosy.dynamic.sizes import sizes as _sizes
from argosy.dynamic.tensor import Tensor
from argosy.errors import InvalidArgumentError


def _axes(axis):
    return [int(one) for one in _sizes(axis)]


@computes
def cast(x, dtype, name=None):
    return x.to(dtypes.to_torch(dtype))


@computes
def concat(x, axis=0, name=None):
    return torch.cat(list(x), int(axis))


@computes
def stack(x, axis=0, name=None):
    return torch.stack(list(x), axis)


@computes
def unstack(x, axis=0, num=None, name=None):
    return list(torch.unbind(x, axis))


@computes
def unbind(input, axis=0, name=None):
    return list(torch.unbind(input, axis))


@computes
def split(x, num_or_sections, axis=0, name=None):
    axis, size = int(axis), x.shape[int(axis)]
    if isinstance(num_or_sections, int):
        if size % num_or_sections:
            raise InvalidArgumentError(f"split: axis {axis} has size {size}, which does not come in {num_or_sections} equal parts")
        return list(torch.split(x, size // num_or_sections, axis))
    sizes = _sizes(num_or_sections)
    known = sum(one for one in sizes if one >= 0)
    return list(torch.split(x, [size - known if one < 0 else one for one in sizes], axis))


@computes
def chunk(x, chunks, axis=0, name=None):
    return list(torch.chunk(x, chunks, int(axis)))


@computes
def slice(input, axes, starts, ends, name=None):
    for axis, start, end in zip(axes, _sizes(starts), _sizes(ends)):
        size = input.shape[axis]
        first, last = (min(max(one + size if one < 0 else one, 0), size) for one in (start, end))
        input = input.narrow(axis, first, max(last - first, 0))
    return input


@computes
def strided_slice(x, axes, starts, ends, strides, name=None):
    """x[starts:ends:strides] along each of `axes`.

    >>> paddle.strided_slice(paddle.arange(6), axes=[0], starts=[0], ends=[6], strides=[2]).tolist()
    [0, 2, 4]
    """
    index = [builtins.slice(None)] * x.dim()
    for axis, *ends_and_step in zip(axes, _sizes(starts), _sizes(ends), _sizes(strides)):
        index[axis] = builtins.slice(*ends_and_step)
    return picked(x, tuple(index))


@computes
def reshape(x, shape, name=None):
    return x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(_sizes(shape))])


@computes
def view(x, shape_or_dtype, name=None):
    """x in another shape, or its bytes as another type, on the same memory.

    >>> paddle.view(paddle.arange(4), [2, 2]).tolist()
    [[0, 1], [2, 3]]
    """
    return x.view(_sizes(shape_or_dtype)) if isinstance(shape_or_dtype, (list, tuple)) else x.view(dtypes.to_torch(shape_or_dtype))


@computes
def view_as(x, other, name=None):
    """x in the shape of `other`, on the same memory.

    >>> paddle.view_as(paddle.arange(4), paddle.zeros([2, 2])).shape
    [2, 2]
    """
    return x.view(other.shape)


@computes
def transpose(x, perm, name=None):
    return x.permute(*_axes(perm))


@computes
def t(input, name=None):
    if input.dim() > 2:
        raise InvalidArgumentError(f"paddle.t: a tensor of at most 2 dimensions; found shape {list(input.shape)}")
    return input.t()


@computes
def squeeze(x, axis=None, name=None):
    if axis is None:
        return x.squeeze()
    return x.squeeze(tuple(one for one in _axes(axis) if x.shape[one] == 1))


@computes
def unsqueeze(x, axis, name=None):
    for one in _axes(axis):
        x = x.unsqueeze(one)
    return x


@computes
def flatten(x, start_axis=0, stop_axis=-1, name=None):
    return x.flatten(start_axis, stop_axis)


@computes
def unflatten(x, axis, shape, name=None):
    """x with `axis` split into the sizes of `shape`, of which one may be -1.

    >>> paddle.unflatten(paddle.zeros([2, 6]), axis=1, shape=[2, 3]).shape
    [2, 2, 3]
    """
    return x.unflatten(axis, _sizes(shape))


@computes
def tile(x, repeat_times, name=None):
    return torch.tile(x, _sizes(repeat_times))


@computes
def expand(x, shape, name=None):
    """x repeated to `shape`: axes of size 1 grow, -1 keeps a size, and new axes come in front. Nothing is copied.

    >>> paddle.expand(paddle.to_tensor([1, 2]), [2, 2]).tolist()
    [[1, 2], [1, 2]]
    """
    return x.expand(_sizes(shape))


@computes
def broadcast_to(x, shape, name=None):
    """x repeated to `shape`, as operators with two tensors do it. Nothing is copied.

    >>> paddle.broadcast_to(paddle.to_tensor([[1], [2]]), [2, 3]).tolist()
    [[1, 1, 1], [2, 2, 2]]
    """
    return x.expand(_sizes(shape))


@computes
def expand_as(x, y, name=None):
    return x.expand(y.shape)


@computes
def flip(x, axis, name=None):
    return torch.flip(x, _axes(axis))


@computes
def reverse(x, axis, name=None):
    """x with the order of its elements turned round along `axis`, a number or a list. Another name for paddle.flip.

    >>> paddle.reverse(paddle.to_tensor([1, 2, 3]), axis=0).tolist()
    [3, 2, 1]
    """
    return torch.flip(x, _axes(axis))


@computes
def roll(x, shifts, axis: Any = None, name=None):
    """x with its elements moved by `shifts` along `axis`; what leaves at one end comes in at the other. Without an axis, of the flattened tensor.

    >>> paddle.roll(paddle.to_tensor([1, 2, 3]), 1).tolist()
    [3, 1, 2]
    """
    return torch.roll(x, _sizes(shifts) if not isinstance(shifts, int) else shifts, axis)


@computes
def rot90(x, k=1, axes=(0, 1), name=None):
    """x turned k times by a quarter, from the first of `axes` to the second.

    >>> paddle.rot90(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]
    """
    return torch.rot90(x, k, list(axes))


@computes
def repeat_interleave(x, repeats, axis=None, name=None):
    """Each element along `axis` repeated: `repeats` times, or as often as its entry in `repeats` says. Without an axis, of the flattened tensor.

    >>> paddle.repeat_interleave(paddle.to_tensor([1, 2]), 2).tolist()
    [1, 1, 2, 2]
    """
    return torch.repeat_interleave(x, repeats, axis)


@computes
def tril(x, diagonal=0, name=None):
    """The part of a matrix on and below its diagonal, the rest 0; `diagonal` moves the border up.

    >>> paddle.tril(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
    [[1, 0], [3, 4]]
    """
    return torch.tril(x, diagonal)


@computes
def triu(x, diagonal=0, name=None):
    """The part of a matrix on and above its diagonal, the rest 0; `diagonal` moves the border up.

    >>> paddle.triu(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
    [[1, 2], [0, 4]]
    """
    return torch.triu(x, diagonal)


@computes
def diag(x, offset=0, padding_value=0, name=None):
    """A vector on a diagonal of a square matrix, the rest padding_value; or a matrix's diagonal as a vector. `offset` chooses one above the main one.

    >>> paddle.diag(paddle.to_tensor([1, 2])).tolist()
    [[1, 0], [0, 2]]
    """
    made = torch.diag(x, offset)
    if x.dim() == 1 and padding_value:
        made = torch.where(torch.diag(torch.ones_like(x, dtype=torch.bool), offset), made, torch.full_like(made, padding_value))
    return made


@computes
def diagonal(x, offset=0, axis1=0, axis2=1, name=None):
    """The diagonal between axis1 and axis2, `offset` places above the main one, as the last axis.

    >>> paddle.diagonal(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
    [1, 4]
    """
    return torch.diagonal(x, offset, axis1, axis2)


@computes
def diagflat(x, offset=0, name=None):
    """The elements of x, flattened, on a diagonal of a square matrix.

    >>> paddle.diagflat(paddle.to_tensor([1, 2])).tolist()
    [[1, 0], [0, 2]]
    """
    return torch.diagflat(x, offset)


@computes
def diag_embed(input, offset=0, dim1=-2, dim2=-1, name=None):
    """The last axis of `input` as the diagonal of matrices in the axes dim1 and dim2.

    >>> paddle.diag_embed(paddle.to_tensor([[1, 2]])).tolist()
    [[[1, 0], [0, 2]]]
    """
    return torch.diag_embed(input, offset, dim1, dim2)


@computes
def shape(input, name=None):
    if torch.jit.is_tracing():
        return torch._shape_as_tensor(input).int()  # the record follows the input
    return torch.tensor(input.shape, dtype=torch.int32)


@computes
def numel(x, name=None):
    count = x.numel()
    return count if isinstance(count, torch.Tensor) else torch.tensor(count)  # a tensor while a layer is recorded


@computes
def rank(input, name=None):
    """The number of axes, as a tensor.

    >>> paddle.rank(paddle.zeros([2, 3])).item()
    2
    """
    return torch.tensor(input.dim(), dtype=torch.int32)


@computes
def as_strided(x, shape, stride, offset=0, name=None):
    """x's memory read with other sizes: element i of an axis is i * stride places behind `offset`.

    >>> paddle.as_strided(paddle.arange(4), [3, 2], [1, 1]).tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    return torch.as_strided(x, shape, stride, offset)


@computes
def unfold(x, axis, size, step, name=None):
    """Windows of `size` elements along `axis`, `step` apart, as a new last axis.

    >>> paddle.unfold(paddle.arange(5), axis=0, size=3, step=2).tolist()
    [[0, 1, 2], [2, 3, 4]]
    """
    return x.unfold(axis, size, step)


@computes
def crop(x, shape=None, offsets=None, name=None):
    """A box out of x: sizes, of which -1 reaches to the end, from `offsets` on, which are 0 unless given.

    >>> paddle.crop(paddle.to_tensor([[1, 2], [3, 4]]), shape=[1, 2], offsets=[1, 0]).tolist()
    [[3, 4]]
    """
    firsts = [0] * x.dim() if offsets is None else _sizes(offsets)
    wanted = list(x.shape) if shape is None else _sizes(shape)
    if len(firsts) != x.dim() or len(wanted) != x.dim():
        raise InvalidArgumentError(f"crop: a size and an offset for each axis of shape {list(x.shape)}; found {wanted} and {firsts}")
    for axis, (first, size) in enumerate(zip(firsts, wanted)):
        size = x.shape[axis] - first if size == -1 else size
        if first < 0 or size < 0 or first + size > x.shape[axis]:
            raise InvalidArgumentError(f"crop: axis {axis} has size {x.shape[axis]}; found {size} from {first} on")
        x = x.narrow(axis, first, size)
    return x


@computes
def clone(x, name=None):
    """A copy of x with memory of its own, through which gradients go.

    >>> paddle.clone(paddle.to_tensor([1, 2])).tolist()
    [1, 2]
    """
    return x.clone()


@computes
def broadcast_tensors(input, name=None):
    """The tensors of a list, each repeated to the shape that all of them have in common.

    >>> [one.shape for one in paddle.broadcast_tensors([paddle.zeros([1, 3]), paddle.zeros([2, 1])])]
    [[2, 3], [2, 3]]
    """
    return list(torch.broadcast_tensors(*input))


@computes
def moveaxis(x, source, destination, name=None):
    """x with the axes `source`, a number or a list, at the places `destination`; the others keep their order.

    >>> paddle.moveaxis(paddle.zeros([2, 3, 4]), 0, 2).shape
    [3, 4, 2]
    """
    return torch.moveaxis(x, source, destination)


@computes
def atleast_1d(*inputs, name=None):
    """Tensors with 1 axis at least: one, or a list where several are given.

    >>> paddle.atleast_1d(paddle.to_tensor(5)).shape
    [1]
    """
    return _at_least(torch.atleast_1d, inputs)


@computes
def atleast_2d(*inputs, name=None):
    """Tensors with 2 axes at least, new ones in front: one, or a list where several are given.

    >>> paddle.atleast_2d(paddle.to_tensor([1, 2])).shape
    [1, 2]
    """
    return _at_least(torch.atleast_2d, inputs)


@computes
def atleast_3d(*inputs, name=None):
    """Tensors with 3 axes at least: one, or a list where several are given.

    >>> paddle.atleast_3d(paddle.to_tensor([1, 2])).shape
    [1, 2, 1]
    """
    return _at_least(torch.atleast_3d, inputs)


def _at_least(of_torch, inputs):
    given = [one if isinstance(one, torch.Tensor) else torch.as_tensor(one) for one in inputs]
    return of_torch(given[0]) if len(given) == 1 else [of_torch(one) for one in given]


def tolist(x):
    """The values of a tensor as nested lists of numbers.

    >>> paddle.tolist(paddle.to_tensor([[1, 2], [3, 4]]))
    [[1, 2], [3, 4]]
    """
    if not isinstance(x, Tensor):
        found = f"the variable '{x.name}'" if hasattr(x, "name") else type(x).__name__
        raise InvalidArgumentError(f"tolist takes a Tensor; found {found}, and a variable has values only in a run: fetch it")
    return x.tolist()
