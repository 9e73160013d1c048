"""Finding, picking, sorting and writing elements of tensors; products of matrices."""
import torch

from argosy.dynamic import dtypes
from argosy.dynamic.calls import computes, same_names
from argosy.errors import InvalidArgumentError, OutOfRangeError

FUNCTIONS = same_names(torch, "bmm mv masked_fill cross cdist bincount")


def _public(function):
    FUNCTIONS[function.__name__] = computes(function)
    return function


def _arg(of_torch, x, axis, keepdim, dtype):
    if axis is None:
        found = of_torch(x.reshape(-1), 0)
        return (found.reshape([1] * x.dim()) if keepdim else found).to(dtypes.to_torch(dtype))
    return of_torch(x, axis, keepdim).to(dtypes.to_torch(dtype))


@_public
def argmax(x, axis=None, keepdim=False, dtype="int64"):
    return _arg(torch.argmax, x, axis, keepdim, dtype)


@_public
def argmin(x, axis=None, keepdim=False, dtype="int64"):
    return _arg(torch.argmin, x, axis, keepdim, dtype)


@_public
def argsort(x, axis=-1, descending=False):
    return torch.argsort(x, dim=axis, descending=descending, stable=True)


@_public
def sort(x, axis=-1, descending=False):
    return torch.sort(x, axis, descending)[0]


@_public
def topk(x, k, axis=None, largest=True, sorted=True):
    """(values, indices)."""
    return tuple(torch.topk(x, int(k), -1 if axis is None else axis, largest, sorted))


@_public
def kthvalue(x, k, axis=None, keepdim=False):
    return tuple(torch.kthvalue(x, k, -1 if axis is None else axis, keepdim))


@_public
def mode(x, axis=-1, keepdim=False):
    return tuple(torch.mode(x, axis, keepdim))


@_public
def cummax(x, axis=None, dtype="int64"):
    values, indices = torch.cummax(x.reshape(-1) if axis is None else x, axis or 0)
    return values, indices.to(dtypes.to_torch(dtype))


@_public
def cummin(x, axis=None, dtype="int64"):
    values, indices = torch.cummin(x.reshape(-1) if axis is None else x, axis or 0)
    return values, indices.to(dtypes.to_torch(dtype))


@_public
def searchsorted(sorted_sequence, values, out_int32=False, right=False):
    return torch.searchsorted(sorted_sequence, values, out_int32=out_int32, right=right)


@_public
def bucketize(x, sorted_sequence, out_int32=False, right=False):
    return torch.bucketize(x, sorted_sequence, out_int32=out_int32, right=right)


@_public
def unique(x, return_index=False, return_inverse=False, return_counts=False, axis=None, dtype="int64"):
    """The distinct values in order; where asked for, the first position of each, each element's place among them, and their numbers."""
    values, inverse, counts = torch.unique(x, sorted=True, return_inverse=True, return_counts=True, dim=axis)
    whole, wanted = dtypes.to_torch(dtype), [values]
    if return_index:
        flat = inverse.reshape(-1)
        first = torch.full((len(counts),), flat.numel(), dtype=torch.int64, device=x.device)
        wanted.append(first.scatter_reduce(0, flat, torch.arange(flat.numel(), device=x.device), "amin").to(whole))
    if return_inverse:
        wanted.append(inverse.reshape(-1).to(whole))
    if return_counts:
        wanted.append(counts.to(whole))
    return tuple(wanted) if len(wanted) > 1 else values


@_public
def unique_consecutive(x, return_inverse=False, return_counts=False, axis=None, dtype="int64"):
    return torch.unique_consecutive(x, return_inverse, return_counts, axis)


@_public
def where(condition, x=None, y=None):
    """x where the condition holds and y elsewhere; without them, where it holds, as nonzero(as_tuple=True)."""
    return tuple(torch.nonzero(condition, as_tuple=True)) if x is None and y is None else torch.where(condition, x, y)


@_public
def nonzero(x, as_tuple=False):
    return tuple(one.unsqueeze(1) for one in torch.nonzero(x, as_tuple=True)) if as_tuple else torch.nonzero(x)


@_public
def masked_select(x, mask):
    return torch.masked_select(x, mask)


@_public
def gather(x, index, axis=None):
    """Slices of an axis, by a list of positions."""
    return torch.index_select(x, int(axis or 0), index.reshape(-1))


@_public
def index_select(x, index, axis=0):
    return torch.index_select(x, axis, index)


@_public
def index_sample(x, index):
    """From every row the elements at that row of `index`."""
    return torch.gather(x, 1, index.long())


@_public
def take_along_axis(arr, indices, axis, broadcast=True):
    return torch.take_along_dim(arr, indices.long(), axis) if broadcast else torch.gather(arr, axis, indices.long())


@_public
def put_along_axis(arr, indices, values, axis, reduce="assign", include_self=True, broadcast=True):
    indices = indices.long()
    values = values if isinstance(values, torch.Tensor) else torch.tensor(values, dtype=arr.dtype)
    values = values.expand(indices.shape).to(arr.dtype)
    if reduce == "assign":
        return torch.scatter(arr, axis, indices, values)
    names = {"add": "sum", "mul": "prod", "multiply": "prod"}
    return torch.scatter_reduce(arr, axis, indices, values, names.get(reduce, reduce), include_self=include_self)


@_public
def gather_nd(x, index):
    return x[tuple(index.long().unbind(-1))] if index.shape[-1] else x


@_public
def scatter(x, index, updates, overwrite=True):
    """Rows of x replaced; without overwrite the updates of a row are added up, from 0."""
    index = index.reshape(-1).long()
    if overwrite:
        return x.index_copy(0, index, updates)
    return x.index_fill(0, index, 0).index_add(0, index, updates)


@_public
def scatter_nd_add(x, index, updates):
    return x.index_put(tuple(index.long().unbind(-1)), updates, accumulate=True)


@_public
def scatter_nd(index, updates, shape):
    return torch.zeros(list(shape), dtype=updates.dtype, device=updates.device).index_put(tuple(index.long().unbind(-1)), updates, accumulate=True)


@_public
def index_add(x, index, axis, value):
    return torch.index_add(x, axis, index, value)


@_public
def index_fill(x, index, axis, value):
    return torch.index_fill(x, axis, index, value)


@_public
def index_put(x, indices, value, accumulate=False):
    return torch.index_put(x, tuple(indices), value, accumulate)


@_public
def histogram(input, bins=100, min=0, max=0):
    return torch.histc(input.float(), bins, min, max).long()


@_public
def multiplex(inputs, index):
    """Row i of the tensor that index[i] names."""
    return torch.stack(list(inputs))[index.reshape(-1).long(), torch.arange(len(index), device=index.device)]


@_public
def matmul(x, y, transpose_x=False, transpose_y=False):
    def turned(value, turn):
        return value.transpose(-1, -2) if turn and value.dim() > 1 else value
    return torch.matmul(turned(x, transpose_x), turned(y, transpose_y))


@_public
def dot(x, y):
    """Of two vectors, or of each row of two matrices."""
    return (x * y).sum(-1)


@_public
def mm(input, mat2):
    return torch.matmul(input, mat2)


@_public
def addmm(input, x, y, beta=1.0, alpha=1.0):
    return torch.addmm(input, x, y, beta=beta, alpha=alpha)


@_public
def tensordot(x, y, axes=2):
    return torch.tensordot(x, y, axes)


@_public
def norm(x, p=None, axis=None, keepdim=False):
    """The vector norm ('fro' and None: 2) over all axes, or over the given ones."""
    order = 2 if p in (None, "fro") else float(p)
    return torch.linalg.vector_norm(x, order, tuple(axis) if isinstance(axis, list) else axis, keepdim)


@_public
def dist(x, y, p=2):
    return torch.linalg.vector_norm(x - y, float(p))


@_public
def trace(x, offset=0, axis1=0, axis2=1):
    return torch.diagonal(x, offset, axis1, axis2).sum(-1)


@_public
def inverse(x):
    return torch.linalg.inv(x)


@_public
def cholesky(x, upper=False):
    return torch.linalg.cholesky(x, upper=upper)


@_public
def take(x, index, mode="raise"):
    """Elements of the flattened tensor. Positions outside of it are an error, go round ('wrap') or become the first or last ('clip')."""
    if mode not in ("raise", "wrap", "clip"):
        raise InvalidArgumentError(f"take: mode is 'raise', 'wrap' or 'clip'; found {mode!r}")
    count, index = x.numel(), index.long()
    if mode == "wrap":
        index = index % count
    elif mode == "clip":
        index = index.clamp(0, count - 1)
    elif bool(((index < -count) | (index >= count)).any()):
        raise OutOfRangeError(f"take: positions lie from {-count} to {count - 1}; found {index.min().item()} to {index.max().item()}; "
                              "mode='wrap' and mode='clip' take others")
    return torch.take(x, index)
