"""Tensors of other shapes: joined, cut, turned and repeated."""
import builtins  # some of whose names are functions below

import torch

from argosy.dynamic import dtypes
from argosy.dynamic.calls import computes
from argosy.dynamic.indexing import picked
from argosy.dynamic.sizes import sizes as _sizes
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
    """Into a number of equal parts, or by sizes, of which one may be -1."""
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
    index = [builtins.slice(None)] * x.dim()
    for axis, *ends_and_step in zip(axes, _sizes(starts), _sizes(ends), _sizes(strides)):
        index[axis] = builtins.slice(*ends_and_step)
    return picked(x, tuple(index))


@computes
def reshape(x, shape, name=None):
    """-1 is what is left over, and 0 the size that is there."""
    return x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(_sizes(shape))])


@computes
def view(x, shape_or_dtype, name=None):
    return x.view(_sizes(shape_or_dtype)) if isinstance(shape_or_dtype, (list, tuple)) else x.view(dtypes.to_torch(shape_or_dtype))


@computes
def view_as(x, other, name=None):
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
    """Drops axes of size 1: the given ones, or all."""
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
    return x.unflatten(axis, _sizes(shape))


@computes
def tile(x, repeat_times, name=None):
    return torch.tile(x, _sizes(repeat_times))


@computes
def expand(x, shape, name=None):
    return x.expand(_sizes(shape))


@computes
def broadcast_to(x, shape, name=None):
    return x.expand(_sizes(shape))


@computes
def expand_as(x, y, name=None):
    return x.expand(y.shape)


@computes
def flip(x, axis, name=None):
    return torch.flip(x, _axes(axis))


@computes
def reverse(x, axis, name=None):
    return torch.flip(x, _axes(axis))


@computes
def roll(x, shifts, axis=None, name=None):
    return torch.roll(x, _sizes(shifts) if not isinstance(shifts, int) else shifts, axis)


@computes
def rot90(x, k=1, axes=(0, 1), name=None):
    return torch.rot90(x, k, list(axes))


@computes
def repeat_interleave(x, repeats, axis=None, name=None):
    return torch.repeat_interleave(x, repeats, axis)


@computes
def tril(x, diagonal=0, name=None):
    return torch.tril(x, diagonal)


@computes
def triu(x, diagonal=0, name=None):
    return torch.triu(x, diagonal)


@computes
def diag(x, offset=0, padding_value=0, name=None):
    """A vector on a diagonal, the rest padding_value; or a matrix's diagonal."""
    made = torch.diag(x, offset)
    if x.dim() == 1 and padding_value:
        made = torch.where(torch.diag(torch.ones_like(x, dtype=torch.bool), offset), made, torch.full_like(made, padding_value))
    return made


@computes
def diagonal(x, offset=0, axis1=0, axis2=1, name=None):
    return torch.diagonal(x, offset, axis1, axis2)


@computes
def diagflat(x, offset=0, name=None):
    return torch.diagflat(x, offset)


@computes
def diag_embed(input, offset=0, dim1=-2, dim2=-1, name=None):
    return torch.diag_embed(input, offset, dim1, dim2)


@computes
def shape(input, name=None):
    """Its sizes, as a tensor."""
    if torch.jit.is_tracing():
        return torch._shape_as_tensor(input).int()  # the record follows the input
    return torch.tensor(input.shape, dtype=torch.int32)


@computes
def numel(x, name=None):
    count = x.numel()
    return count if isinstance(count, torch.Tensor) else torch.tensor(count)  # a tensor while a layer is recorded


@computes
def rank(input, name=None):
    return torch.tensor(input.dim(), dtype=torch.int32)


@computes
def as_strided(x, shape, stride, offset=0, name=None):
    return torch.as_strided(x, shape, stride, offset)


@computes
def unfold(x, axis, size, step, name=None):
    return x.unfold(axis, size, step)


@computes
def crop(x, shape=None, offsets=None, name=None):
    """A box out of x: sizes, of which -1 reaches to the end, from offsets on, which are 0 unless given."""
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
    return x.clone()


@computes
def broadcast_tensors(input, name=None):
    return list(torch.broadcast_tensors(*input))


@computes
def moveaxis(x, source, destination, name=None):
    return torch.moveaxis(x, source, destination)


@computes
def atleast_1d(*inputs, name=None):
    return _at_least(torch.atleast_1d, inputs)


@computes
def atleast_2d(*inputs, name=None):
    return _at_least(torch.atleast_2d, inputs)


@computes
def atleast_3d(*inputs, name=None):
    return _at_least(torch.atleast_3d, inputs)


def _at_least(of_torch, inputs):
    return of_torch(inputs[0]) if len(inputs) == 1 else [of_torch(one) for one in inputs]


def tolist(x):
    return x.tolist()
