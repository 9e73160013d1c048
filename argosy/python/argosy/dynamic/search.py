"""Finding, picking, sorting and writing elements of tensors; products of matrices."""
import torch

from argosy.dynamic import dtypes
from argosy.dynamic.calls import computes
from argosy.errors import InvalidArgumentError, OutOfRangeError


def _arg(of_torch, x, axis, keepdim, dtype):
    if axis is None:
        found = of_torch(x.reshape(-1), 0)
        return (found.reshape([1] * x.dim()) if keepdim else found).to(dtypes.to_torch(dtype))
    return of_torch(x, axis, keepdim).to(dtypes.to_torch(dtype))


@computes
def argmax(x, axis=None, keepdim=False, dtype="int64", name=None):
    return _arg(torch.argmax, x, axis, keepdim, dtype)


@computes
def argmin(x, axis=None, keepdim=False, dtype="int64", name=None):
    return _arg(torch.argmin, x, axis, keepdim, dtype)


@computes
def argsort(x, axis=-1, descending=False, name=None):
    return torch.argsort(x, dim=axis, descending=descending, stable=True)


@computes
def sort(x, axis=-1, descending=False, name=None):
    return torch.sort(x, axis, descending)[0]


@computes
def topk(x, k, axis=None, largest=True, sorted=True, name=None):
    """(values, indices)."""
    return tuple(torch.topk(x, int(k), -1 if axis is None else axis, largest, sorted))


@computes
def kthvalue(x, k, axis=None, keepdim=False, name=None):
    return tuple(torch.kthvalue(x, k, -1 if axis is None else axis, keepdim))


@computes
def mode(x, axis=-1, keepdim=False, name=None):
    return tuple(torch.mode(x, axis, keepdim))


@computes
def cummax(x, axis=None, dtype="int64", name=None):
    values, indices = torch.cummax(x.reshape(-1) if axis is None else x, axis or 0)
    return values, indices.to(dtypes.to_torch(dtype))


@computes
def cummin(x, axis=None, dtype="int64", name=None):
    values, indices = torch.cummin(x.reshape(-1) if axis is None else x, axis or 0)
    return values, indices.to(dtypes.to_torch(dtype))


@computes
def searchsorted(sorted_sequence, values, out_int32=False, right=False, name=None):
    return torch.searchsorted(sorted_sequence, values, out_int32=out_int32, right=right)


@computes
def bucketize(x, sorted_sequence, out_int32=False, right=False, name=None):
    return torch.bucketize(x, sorted_sequence, out_int32=out_int32, right=right)


@computes
def unique(x, return_index=False, return_inverse=False, return_counts=False, axis=None, dtype="int64", name=None):
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


@computes
def unique_consecutive(x, return_inverse=False, return_counts=False, axis=None, dtype="int64", name=None):
    return torch.unique_consecutive(x, return_inverse, return_counts, axis)


@computes
def where(condition, x=None, y=None, name=None):
    """x where the condition holds and y elsewhere; without them, where it holds, as nonzero(as_tuple=True)."""
    return tuple(torch.nonzero(condition, as_tuple=True)) if x is None and y is None else torch.where(condition, x, y)


@computes
def nonzero(x, as_tuple=False, name=None):
    return tuple(one.unsqueeze(1) for one in torch.nonzero(x, as_tuple=True)) if as_tuple else torch.nonzero(x)


@computes
def masked_select(x, mask, name=None):
    return torch.masked_select(x, mask)


@computes
def gather(x, index, axis=None, name=None):
    """Slices of an axis, by a list of positions."""
    return torch.index_select(x, int(axis or 0), index.reshape(-1))


@computes
def index_select(x, index, axis=0, name=None):
    return torch.index_select(x, axis, index)


@computes
def index_sample(x, index, name=None):
    """From every row the elements at that row of `index`."""
    return torch.gather(x, 1, index.long())


@computes
def take_along_axis(arr, indices, axis, broadcast=True, name=None):
    return torch.take_along_dim(arr, indices.long(), axis) if broadcast else torch.gather(arr, axis, indices.long())


@computes
def put_along_axis(arr, indices, values, axis, reduce="assign", include_self=True, broadcast=True, name=None):
    indices = indices.long()
    values = values if isinstance(values, torch.Tensor) else torch.tensor(values, dtype=arr.dtype)
    values = values.expand(indices.shape).to(arr.dtype)
    if reduce == "assign":
        return torch.scatter(arr, axis, indices, values)
    names = {"add": "sum", "mul": "prod", "multiply": "prod"}
    return torch.scatter_reduce(arr, axis, indices, values, names.get(reduce, reduce), include_self=include_self)


@computes
def gather_nd(x, index, name=None):
    return x[tuple(index.long().unbind(-1))] if index.shape[-1] else x


@computes
def scatter(x, index, updates, overwrite=True, name=None):
    """Rows of x replaced; without overwrite the updates of a row are added up, from 0."""
    index = index.reshape(-1).long()
    if overwrite:
        return x.index_copy(0, index, updates)
    return x.index_fill(0, index, 0).index_add(0, index, updates)


@computes
def scatter_nd_add(x, index, updates, name=None):
    return x.index_put(tuple(index.long().unbind(-1)), updates, accumulate=True)


@computes
def scatter_nd(index, updates, shape, name=None):
    return torch.zeros(list(shape), dtype=updates.dtype, device=updates.device).index_put(tuple(index.long().unbind(-1)), updates, accumulate=True)


@computes
def index_add(x, index, axis, value, name=None):
    return torch.index_add(x, axis, index, value)


@computes
def index_fill(x, index, axis, value, name=None):
    return torch.index_fill(x, axis, index, value)


@computes
def index_put(x, indices, value, accumulate=False, name=None):
    return torch.index_put(x, tuple(indices), value, accumulate)


@computes
def histogram(input, bins=100, min=0, max=0, name=None):
    return torch.histc(input.float(), bins, min, max).long()


@computes
def multiplex(inputs, index, name=None):
    """Row i of the tensor that index[i] names."""
    return torch.stack(list(inputs))[index.reshape(-1).long(), torch.arange(len(index), device=index.device)]


@computes
def matmul(x, y, transpose_x=False, transpose_y=False, name=None):
    def turned(value, turn):
        return value.transpose(-1, -2) if turn and value.dim() > 1 else value
    return torch.matmul(turned(x, transpose_x), turned(y, transpose_y))


@computes
def dot(x, y, name=None):
    """Of two vectors, or of each row of two matrices."""
    return (x * y).sum(-1)


@computes
def mm(input, mat2, name=None):
    return torch.matmul(input, mat2)


@computes
def addmm(input, x, y, beta=1.0, alpha=1.0, name=None):
    return torch.addmm(input, x, y, beta=beta, alpha=alpha)


@computes
def tensordot(x, y, axes=2, name=None):
    return torch.tensordot(x, y, axes)


@computes
def norm(x, p=None, axis=None, keepdim=False, name=None):
    """The vector norm ('fro' and None: 2) over all axes, or over the given ones."""
    order = 2 if p in (None, "fro") else float(p)
    return torch.linalg.vector_norm(x, order, tuple(axis) if isinstance(axis, list) else axis, keepdim)


@computes
def dist(x, y, p=2, name=None):
    return torch.linalg.vector_norm(x - y, float(p))


@computes
def trace(x, offset=0, axis1=0, axis2=1, name=None):
    return torch.diagonal(x, offset, axis1, axis2).sum(-1)


@computes
def inverse(x, name=None):
    return torch.linalg.inv(x)


@computes
def cholesky(x, upper=False, name=None):
    return torch.linalg.cholesky(x, upper=upper)


@computes
def take(x, index, mode="raise", name=None):
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


@computes
def bmm(x, y, name=None):
    return torch.bmm(x, y)


@computes
def mv(x, vec, name=None):
    return torch.mv(x, vec)


@computes
def masked_fill(x, mask, value, name=None):
    return torch.masked_fill(x, mask, value)


@computes
def cross(x, y, axis=-1, name=None):
    return torch.cross(x, y, axis)


@computes
def cdist(x, y, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary", name=None):
    return torch.cdist(x, y, p, compute_mode)


@computes
def bincount(x, weights=None, minlength=0, name=None):
    return torch.bincount(x, weights, minlength)
