"""Finding, picking, sorting and writing elements of tensors; products of matrices."""

from typing import Any

import torch

from argosy.dynamic import dtypes
from argosy.dynamic.calls import computes
from argosy.errors import InvalidArgumentError, OutOfRangeError
from argosy.tensor.composed import axis_of_three


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
    return tuple(torch.topk(x, int(k), -1 if axis is None else axis, largest, sorted))


@computes
def kthvalue(x, k, axis=None, keepdim=False, name=None):
    """(the k-th smallest along `axis`, its position); the last axis unless given.

    >>> [one.item() for one in paddle.kthvalue(paddle.to_tensor([5, 1, 3]), 2)]
    [3, 2]
    """
    return tuple(torch.kthvalue(x, k, -1 if axis is None else axis, keepdim))


@computes
def mode(x, axis=-1, keepdim=False, name=None):
    """(the most frequent value along `axis`, a position of it).

    >>> paddle.mode(paddle.to_tensor([2, 1, 2]))[0].item()
    2
    """
    return tuple(torch.mode(x, axis, keepdim))


@computes
def cummax(x, axis=None, dtype="int64", name=None):
    """(the largest value up to each element along `axis`, its position); of the flattened tensor where axis is None.

    >>> paddle.cummax(paddle.to_tensor([1, 3, 2]))[0].tolist()
    [1, 3, 3]
    """
    values, indices = torch.cummax(x.reshape(-1) if axis is None else x, axis or 0)
    return values, indices.to(dtypes.to_torch(dtype))


@computes
def cummin(x, axis=None, dtype="int64", name=None):
    """(the smallest value up to each element along `axis`, its position); of the flattened tensor where axis is None.

    >>> paddle.cummin(paddle.to_tensor([3, 1, 2]))[0].tolist()
    [3, 1, 1]
    """
    values, indices = torch.cummin(x.reshape(-1) if axis is None else x, axis or 0)
    return values, indices.to(dtypes.to_torch(dtype))


@computes
def searchsorted(sorted_sequence, values, out_int32=False, right=False, name=None):
    """Where each of `values` would be put into the last axis of sorted_sequence to keep it sorted: before equal ones, or behind them where right.

    >>> paddle.searchsorted(paddle.to_tensor([1, 3, 5]), paddle.to_tensor([3, 4])).tolist()
    [1, 2]
    """
    return torch.searchsorted(sorted_sequence, values, out_int32=out_int32, right=right)


@computes
def bucketize(x, sorted_sequence, out_int32=False, right=False, name=None):
    """The number of the interval of sorted_sequence that each element of x lies in: ends belong to the interval before, or behind where right.

    >>> paddle.bucketize(paddle.to_tensor([0, 2, 9]), paddle.to_tensor([1, 5])).tolist()
    [0, 1, 2]
    """
    return torch.bucketize(x, sorted_sequence, out_int32=out_int32, right=right)


@computes
def unique(x, return_index=False, return_inverse=False, return_counts=False, axis=None, dtype="int64", name=None):
    """The distinct values of x in order; along `axis`, the distinct slices.

    Where asked for, also the first position of each, the place of each element among them, and how often each occurs.

    >>> values, counts = paddle.unique(paddle.to_tensor([3, 1, 3]), return_counts=True)
    >>> values.tolist(), counts.tolist()
    ([1, 3], [1, 2])
    """
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
    """x without the elements that equal the one before; where asked for, also the place of each element among them, and the lengths of the runs.

    >>> paddle.unique_consecutive(paddle.to_tensor([1, 1, 2, 1])).tolist()
    [1, 2, 1]
    """
    found = torch.unique_consecutive(x, True, True, axis)
    whole = dtypes.to_torch(dtype)
    wanted = [found[0], *(part.reshape(-1).to(whole) for part, asked in zip(found[1:], (return_inverse, return_counts)) if asked)]
    return tuple(wanted) if len(wanted) > 1 else wanted[0]


@computes
def where(condition, x: Any = None, y: Any = None, name=None):
    if x is None and y is None:
        return tuple(one.unsqueeze(1) for one in torch.nonzero(condition, as_tuple=True))
    return torch.where(condition.bool(), x, y)  # pyright: ignore[reportCallIssue, reportArgumentType]


@computes
def nonzero(x, as_tuple=False, name=None):
    return tuple(one.unsqueeze(1) for one in torch.nonzero(x, as_tuple=True)) if as_tuple else torch.nonzero(x)


@computes
def masked_select(x, mask, name=None):
    """The elements of x where `mask` is True, as a vector.

    >>> paddle.masked_select(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([True, False, True])).tolist()
    [1, 3]
    """
    return torch.masked_select(x, mask)


@computes
def gather(x, index, axis=None, name=None):
    return torch.index_select(x, int(axis or 0), index.reshape(-1))


@computes
def index_select(x, index, axis=0, name=None):
    return torch.index_select(x, axis, index.reshape(-1))


@computes
def index_sample(x, index, name=None):
    """From every row of x the elements at that row of `index`.

    >>> paddle.index_sample(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[1], [0]])).tolist()
    [[2], [3]]
    """
    return torch.gather(x, 1, index.long())


@computes
def take_along_axis(arr, indices, axis, broadcast=True, name=None):
    """The elements of `arr` at `indices` along `axis`; the other axes are repeated to one shape where broadcast.

    >>> paddle.take_along_axis(paddle.to_tensor([[5, 6], [7, 8]]), paddle.to_tensor([[1], [0]]), axis=1).tolist()
    [[6], [7]]
    """
    return torch.take_along_dim(arr, indices.long(), axis) if broadcast else torch.gather(arr, axis, indices.long())


@computes
def put_along_axis(arr, indices, values, axis, reduce="assign", include_self=True, broadcast=True, name=None):
    """`arr` with `values` at `indices` along `axis`; reduce is assign, add, mul, mean, amin or amax, and include_self counts what was there.

    >>> paddle.put_along_axis(paddle.to_tensor([[1, 2]]), paddle.to_tensor([[1]]), 9, axis=1).tolist()
    [[1, 9]]
    """
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
    index = index.reshape(-1).long()
    if overwrite:
        return x.index_copy(0, index, updates)
    return x.index_fill(0, index, 0).index_add(0, index, updates)


@computes
def scatter_nd_add(x, index, updates, name=None):
    """x with `updates` added at the places of `index`, whose last axis is a position; repeated ones add up.

    >>> paddle.scatter_nd_add(paddle.zeros([3]), paddle.to_tensor([[1], [1]]), paddle.to_tensor([2.0, 3.0])).tolist()
    [0.0, 5.0, 0.0]
    """
    return x.index_put(tuple(index.long().unbind(-1)), updates, accumulate=True)


@computes
def scatter_nd(index, updates, shape, name=None):
    """Zeros of `shape` with `updates` added at the places of `index`, whose last axis is a position.

    >>> paddle.scatter_nd(paddle.to_tensor([[0], [2]]), paddle.to_tensor([4.0, 5.0]), [3]).tolist()
    [4.0, 0.0, 5.0]
    """
    return torch.zeros(list(shape), dtype=updates.dtype, device=updates.device).index_put(tuple(index.long().unbind(-1)), updates, accumulate=True)


@computes
def index_add(x, index, axis, value, name=None):
    """x with the slices of `value` added to those at `index` of `axis`.

    >>> paddle.index_add(paddle.zeros([3]), paddle.to_tensor([0, 2]), 0, paddle.to_tensor([1.0, 2.0])).tolist()
    [1.0, 0.0, 2.0]
    """
    return torch.index_add(x, axis, index, value)


@computes
def index_fill(x, index, axis, value, name=None):
    """x with one value in the slices at `index` of `axis`.

    >>> paddle.index_fill(paddle.zeros([3]), paddle.to_tensor([0, 2]), 0, 7.0).tolist()
    [7.0, 0.0, 7.0]
    """
    return torch.index_fill(x, axis, index, value)


@computes
def index_put(x, indices, value, accumulate=False, name=None):
    """x with `value` at the places that `indices` name, a tuple with one tensor for each axis; added to what is there where accumulate.

    >>> paddle.index_put(paddle.zeros([2, 2]), (paddle.to_tensor([0]), paddle.to_tensor([1])), paddle.to_tensor(5.0)).tolist()
    [[0.0, 5.0], [0.0, 0.0]]
    """
    return torch.index_put(x, tuple(indices), value, accumulate)


@computes
def histogram(input, bins=100, min=0, max=0, name=None):
    """How many elements fall into each of `bins` equal intervals from min to max; between the smallest and the largest element where both are 0.

    >>> paddle.histogram(paddle.to_tensor([1.0, 2.0, 2.5]), bins=2, min=1, max=3).tolist()
    [1, 2]
    """
    return torch.histc(input.float(), bins, min, max).long()


@computes
def multiplex(inputs, index, name=None):
    """Row i of the tensor that index[i] names, out of a list of tensors of one shape.

    >>> x, y = paddle.to_tensor([[1], [2]]), paddle.to_tensor([[3], [4]])
    >>> paddle.multiplex([x, y], paddle.to_tensor([[0], [1]])).tolist()
    [[1], [4]]
    """
    return torch.stack(list(inputs))[index.reshape(-1).long(), torch.arange(len(index), device=index.device)]


@computes
def matmul(x, y, transpose_x=False, transpose_y=False, name=None):
    def turned(value, turn):
        return value.transpose(-1, -2) if turn and value.dim() > 1 else value

    return torch.matmul(turned(x, transpose_x), turned(y, transpose_y))


@computes
def dot(x, y, name=None):
    return (x * y).sum(-1)


@computes
def mm(input, mat2, name=None):
    return torch.matmul(input, mat2)


@computes
def addmm(input, x, y, beta=1.0, alpha=1.0, name=None):
    """beta * input + alpha * (x @ y).

    >>> paddle.addmm(paddle.ones([1, 1]), paddle.to_tensor([[2.0]]), paddle.to_tensor([[3.0]])).tolist()
    [[7.0]]
    """
    return torch.addmm(input, x, y, beta=beta, alpha=alpha)


@computes
def tensordot(x, y, axes=2, name=None):
    """Sums of products over the last `axes` axes of x and the first of y; or over the axes that two lists name.

    >>> paddle.tensordot(paddle.ones([2, 3]), paddle.ones([3, 4]), axes=1).shape
    [2, 4]
    """
    return torch.tensordot(x, y, axes)


@computes
def norm(x, p=None, axis=None, keepdim=False, name=None):
    """The p-norm over `axis`, a number or a list, or over all elements; 'fro' and None are 2.

    >>> paddle.norm(paddle.to_tensor([3.0, 4.0])).item()
    5.0
    """
    order = 2 if p in (None, "fro") else float(p)
    return torch.linalg.vector_norm(x, order, tuple(axis) if isinstance(axis, list) else axis, keepdim)


@computes
def dist(x, y, p=2, name=None):
    """The p-norm of x - y.

    >>> paddle.dist(paddle.to_tensor([0.0, 0.0]), paddle.to_tensor([3.0, 4.0])).item()
    5.0
    """
    return torch.linalg.vector_norm(x - y, float(p))


@computes
def trace(x, offset=0, axis1=0, axis2=1, name=None):
    """The sum of a diagonal between axis1 and axis2, `offset` places above the main one.

    >>> paddle.trace(paddle.to_tensor([[1, 2], [3, 4]])).item()
    5
    """
    return torch.diagonal(x, offset, axis1, axis2).sum(-1)


@computes
def inverse(x, name=None):
    """The inverse of a square matrix, or of each of several.

    >>> paddle.inverse(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return torch.linalg.inv(x)


@computes
def cholesky(x, upper=False, name=None):
    """The lower triangular matrix whose product with its transpose is x, or the upper one; x is symmetric and positive definite.

    >>> paddle.cholesky(paddle.to_tensor([[4.0, 0.0], [0.0, 9.0]])).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return torch.linalg.cholesky(x, upper=upper)


@computes
def take(x, index, mode="raise", name=None):
    """Elements of the flattened tensor. Positions outside of it are an error, go round ('wrap') or become the first or last ('clip').

    >>> paddle.take(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([0, 3])).tolist()
    [1, 4]
    """
    if mode not in ("raise", "wrap", "clip"):
        raise InvalidArgumentError(f"take: mode is 'raise', 'wrap' or 'clip'; found {mode!r}")
    count, index = x.numel(), index.long()
    if mode == "wrap":
        index = index % count
    elif mode == "clip":
        index = index.clamp(0, count - 1)
    elif bool(((index < -count) | (index >= count)).any()):
        raise OutOfRangeError(
            f"take: positions lie from {-count} to {count - 1}; found {index.min().item()} to {index.max().item()}; mode='wrap' and mode='clip' take others"
        )
    return torch.take(x, index)


@computes
def bmm(x, y, name=None):
    return torch.bmm(x, y)


@computes
def mv(x, vec, name=None):
    """The product of a matrix with a vector.

    >>> paddle.mv(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), paddle.to_tensor([1.0, 1.0])).tolist()
    [3.0, 7.0]
    """
    return torch.mv(x, vec)


@computes
def masked_fill(x, mask, value, name=None):
    """x with `value`, a number or a tensor, where `mask` is True, or is not 0.

    >>> paddle.masked_fill(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([True, False]), 0.0).tolist()
    [0.0, 2.0]
    """
    return torch.where(mask.bool(), torch.as_tensor(value, dtype=x.dtype, device=x.device), x)


@computes
def cross(x, y, axis=9, name=None):
    """The vector product along `axis`, which has size 3; 9 is the first that has.

    >>> paddle.cross(paddle.to_tensor([1.0, 0.0, 0.0]), paddle.to_tensor([0.0, 1.0, 0.0])).tolist()
    [0.0, 0.0, 1.0]
    """
    return torch.cross(x, y, axis_of_three(x.shape, axis))


@computes
def cdist(x, y, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary", name=None):
    """The p-norm of the difference of each row of x and each row of y.

    >>> paddle.cdist(paddle.to_tensor([[0.0, 0.0]]), paddle.to_tensor([[3.0, 4.0], [0.0, 1.0]])).tolist()
    [[5.0, 1.0]]
    """
    return torch.cdist(x, y, p, compute_mode)


@computes
def bincount(x, weights=None, minlength=0, name=None):
    """How often each whole number from 0 on occurs in x, or the sum of its weights; minlength entries at least.

    >>> paddle.bincount(paddle.to_tensor([0, 2, 2])).tolist()
    [1, 0, 2]
    """
    return torch.bincount(x, weights, minlength)
