"""Tensors of other shapes: joined, cut, turned and repeated."""
import builtins  # some of whose names are functions below

import torch

from argosy.dynamic import dtypes
from argosy.dynamic.calls import computes, same_names
from argosy.dynamic.indexing import picked
from argosy.dynamic.sizes import sizes as _sizes
from argosy.errors import InvalidArgumentError

FUNCTIONS = same_names(torch, "broadcast_tensors moveaxis atleast_1d atleast_2d atleast_3d")


def _public(function):
    FUNCTIONS[function.__name__] = computes(function)
    return function


def _axes(axis):
    return [int(one) for one in _sizes(axis)]


@_public
def cast(x, dtype):
    return x.to(dtypes.to_torch(dtype))


@_public
def concat(x, axis=0):
    return torch.cat(list(x), int(axis))


@_public
def stack(x, axis=0):
    return torch.stack(list(x), axis)


@_public
def unstack(x, axis=0, num=None):
    return list(torch.unbind(x, axis))


@_public
def unbind(input, axis=0):
    return list(torch.unbind(input, axis))


@_public
def split(x, num_or_sections, axis=0):
    """Into a number of equal parts, or by sizes, of which one may be -1."""
    axis, size = int(axis), x.shape[int(axis)]
    if isinstance(num_or_sections, int):
        if size % num_or_sections:
            raise InvalidArgumentError(f"split: axis {axis} has size {size}, which does not come in {num_or_sections} equal parts")
        return list(torch.split(x, size // num_or_sections, axis))
    sizes = _sizes(num_or_sections)
    known = sum(one for one in sizes if one >= 0)
    return list(torch.split(x, [size - known if one < 0 else one for one in sizes], axis))


@_public
def chunk(x, chunks, axis=0):
    return list(torch.chunk(x, chunks, int(axis)))


@_public
def slice(input, axes, starts, ends):
    for axis, start, end in zip(axes, _sizes(starts), _sizes(ends)):
        size = input.shape[axis]
        first, last = (min(max(one + size if one < 0 else one, 0), size) for one in (start, end))
        input = input.narrow(axis, first, max(last - first, 0))
    return input


@_public
def strided_slice(x, axes, starts, ends, strides):
    index = [builtins.slice(None)] * x.dim()
    for axis, *ends_and_step in zip(axes, _sizes(starts), _sizes(ends), _sizes(strides)):
        index[axis] = builtins.slice(*ends_and_step)
    return picked(x, tuple(index))


@_public
def reshape(x, shape):
    """-1 is what is left over, and 0 the size that is there."""
    return x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(_sizes(shape))])


@_public
def view(x, shape_or_dtype):
    return x.view(_sizes(shape_or_dtype)) if isinstance(shape_or_dtype, (list, tuple)) else x.view(dtypes.to_torch(shape_or_dtype))


@_public
def view_as(x, other):
    return x.view(other.shape)


@_public
def transpose(x, perm):
    return x.permute(*_axes(perm))


@_public
def t(input):
    if input.dim() > 2:
        raise InvalidArgumentError(f"paddle.t: a tensor of at most 2 dimensions; found shape {list(input.shape)}")
    return input.t()


@_public
def squeeze(x, axis=None):
    """Drops axes of size 1: the given ones, or all."""
    if axis is None:
        return x.squeeze()
    return x.squeeze(tuple(one for one in _axes(axis) if x.shape[one] == 1))


@_public
def unsqueeze(x, axis):
    for one in _axes(axis):
        x = x.unsqueeze(one)
    return x


@_public
def flatten(x, start_axis=0, stop_axis=-1):
    return x.flatten(start_axis, stop_axis)


@_public
def unflatten(x, axis, shape):
    return x.unflatten(axis, _sizes(shape))


@_public
def tile(x, repeat_times):
    return torch.tile(x, _sizes(repeat_times))


@_public
def expand(x, shape):
    return x.expand(_sizes(shape))


@_public
def broadcast_to(x, shape):
    return x.expand(_sizes(shape))


@_public
def expand_as(x, y):
    return x.expand(y.shape)


@_public
def flip(x, axis):
    return torch.flip(x, _axes(axis))


@_public
def reverse(x, axis):
    return torch.flip(x, _axes(axis))


@_public
def roll(x, shifts, axis=None):
    return torch.roll(x, _sizes(shifts) if not isinstance(shifts, int) else shifts, axis)


@_public
def rot90(x, k=1, axes=(0, 1)):
    return torch.rot90(x, k, list(axes))


@_public
def repeat_interleave(x, repeats, axis=None):
    return torch.repeat_interleave(x, repeats, axis)


@_public
def tril(x, diagonal=0):
    return torch.tril(x, diagonal)


@_public
def triu(x, diagonal=0):
    return torch.triu(x, diagonal)


@_public
def diag(x, offset=0, padding_value=0):
    """A vector on a diagonal, the rest padding_value; or a matrix's diagonal."""
    made = torch.diag(x, offset)
    if x.dim() == 1 and padding_value:
        made = torch.where(torch.diag(torch.ones_like(x, dtype=torch.bool), offset), made, torch.full_like(made, padding_value))
    return made


@_public
def diagonal(x, offset=0, axis1=0, axis2=1):
    return torch.diagonal(x, offset, axis1, axis2)


@_public
def diagflat(x, offset=0):
    return torch.diagflat(x, offset)


@_public
def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    return torch.diag_embed(input, offset, dim1, dim2)


@_public
def shape(input):
    """Its sizes, as a tensor."""
    if torch.jit.is_tracing():
        return torch._shape_as_tensor(input).int()  # the record follows the input
    return torch.tensor(input.shape, dtype=torch.int32)


@_public
def numel(x):
    count = x.numel()
    return count if isinstance(count, torch.Tensor) else torch.tensor(count)  # a tensor while a layer is recorded


@_public
def rank(input):
    return torch.tensor(input.dim(), dtype=torch.int32)


@_public
def as_strided(x, shape, stride, offset=0):
    return torch.as_strided(x, shape, stride, offset)


@_public
def unfold(x, axis, size, step):
    return x.unfold(axis, size, step)


@_public
def crop(x, shape=None, offsets=None):
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


@_public
def clone(x):
    return x.clone()
