"""Sums, products and extremes along axes, and products of matrices."""

from argosy import _core
from argosy.dispatch import builds
from argosy.fluid import layers
from argosy.fluid.layers import kinds


@builds
def bmm(x, y, name=None):
    """The products of the matrices of two batches, [batch, n, m] and [batch, m, p].

    >>> paddle.bmm(paddle.ones([4, 2, 3]), paddle.ones([4, 3, 5])).shape
    [4, 2, 5]
    """
    return layers.bmm(x, y, name=name)


@builds
def dot(x, y, name=None):
    """The sum of the products of two vectors' elements, or of each row of two matrices.

    >>> paddle.dot(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
    11.0
    """
    found = layers.dot(x, y, name=name)
    return layers.squeeze(found, [-1]) if len(x.shape) > 1 else found


@builds
def mean(x, axis=None, keepdim=False, name=None):
    """The mean along `axis`, a number or a list; of all elements where it is None. keepdim leaves an axis of size 1.

    >>> paddle.mean(paddle.to_tensor([[1.0, 3.0], [5.0, 7.0]]), axis=1).tolist()
    [2.0, 6.0]
    """
    kinds.require_floats("mean", "x", x)
    return layers.reduce_mean(x, dim=axis, keep_dim=keepdim, name=name)


@builds
def max(x, axis=None, keepdim=False, name=None):
    """The largest element along `axis`, a number or a list; of all elements where it is None. keepdim leaves an axis of size 1.

    >>> paddle.max(paddle.to_tensor([[1.0, 5.0], [7.0, 2.0]]), axis=1).tolist()
    [5.0, 7.0]
    """
    return layers.reduce_max(x, dim=axis, keep_dim=keepdim, name=name)


@builds
def min(x, axis=None, keepdim=False, name=None):
    """The smallest element along `axis`, a number or a list; of all elements where it is None. keepdim leaves an axis of size 1.

    >>> paddle.min(paddle.to_tensor([[1.0, 5.0], [7.0, 2.0]]), axis=1).tolist()
    [1.0, 2.0]
    """
    return layers.reduce_min(x, dim=axis, keep_dim=keepdim, name=name)


@builds
def all(x, axis=None, keepdim=False, name=None):
    """Whether all booleans along `axis` are True; of all elements where it is None.

    >>> paddle.all(paddle.to_tensor([[True, False], [True, True]]), axis=1).tolist()
    [False, True]
    """
    return layers.reduce_all(x, dim=axis, keep_dim=keepdim, name=name)


@builds
def any(x, axis=None, keepdim=False, name=None):
    """Whether some boolean along `axis` is True; of all elements where it is None.

    >>> paddle.any(paddle.to_tensor([[True, False], [False, False]]), axis=1).tolist()
    [True, False]
    """
    return layers.reduce_any(x, dim=axis, keep_dim=keepdim, name=name)


@builds
def sum(x, axis=None, dtype=None, keepdim=False, name=None):
    """The sum along `axis`, a number or a list; of all elements where it is None. keepdim leaves an axis of size 1.

    In `dtype` where one is given; otherwise booleans and small whole numbers are added up in int64.

    >>> paddle.sum(paddle.to_tensor([[1, 2], [3, 4]]), axis=1).tolist()
    [3, 7]
    """
    dtype = "int64" if dtype is None and _core.dtype_name(x.dtype) in ("bool", "int32") else dtype
    return layers.reduce_sum(x if dtype is None else layers.cast(x, dtype), dim=axis, keep_dim=keepdim, name=name)


@builds
def prod(x, axis=None, keepdim=False, dtype=None, name=None):
    """The product along `axis`, a number or a list; of all elements where it is None. In `dtype` where one is given.

    >>> paddle.prod(paddle.to_tensor([[1, 2], [3, 4]]), axis=1).tolist()
    [2, 12]
    """
    return layers.reduce_prod(x if dtype is None else layers.cast(x, dtype), dim=axis, keep_dim=keepdim, name=name)


@builds
def matmul(x, y, transpose_x=False, transpose_y=False, name=None):
    """The product of two matrices, of matrices and vectors, or of batches of matrices; transpose_x and transpose_y swap the last two axes first.

    >>> paddle.matmul(paddle.to_tensor([[1.0, 2.0]]), paddle.to_tensor([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    return layers.matmul(x, y, transpose_x=transpose_x, transpose_y=transpose_y, name=name)


@builds
def mm(input, mat2, name=None):
    """The product of two matrices, or of batches of them.

    >>> paddle.mm(paddle.to_tensor([[1.0, 2.0]]), paddle.to_tensor([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    return layers.matmul(input, mat2, name=name)


@builds
def cumsum(x, axis=None, dtype=None, name=None):
    """Sums of all elements up to each one along `axis`; of the flattened tensor where it is None.

    >>> paddle.cumsum(paddle.to_tensor([1, 2, 3])).tolist()
    [1, 3, 6]
    """
    x = x if dtype is None else layers.cast(x, dtype)
    return layers.cumsum(layers.reshape(x, [-1]), axis=0) if axis is None else layers.cumsum(x, axis=axis)
