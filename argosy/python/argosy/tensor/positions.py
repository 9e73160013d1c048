"""Order, and elements by position."""

from argosy import _core
from argosy.building.operators import append
from argosy.dispatch import builds
from argosy.errors import InvalidArgumentError
from argosy.fluid import layers


@builds
def argmax(x, axis=None, keepdim=False, dtype="int64", name=None):
    """The position of the largest element along `axis`; in the flattened tensor where it is None.

    >>> paddle.argmax(paddle.to_tensor([[1, 5], [7, 2]]), axis=1).tolist()
    [1, 0]
    """
    return _arg("argmax", x, axis, keepdim, dtype)


@builds
def argmin(x, axis=None, keepdim=False, dtype="int64", name=None):
    """The position of the smallest element along `axis`; in the flattened tensor where it is None.

    >>> paddle.argmin(paddle.to_tensor([[1, 5], [7, 2]]), axis=1).tolist()
    [0, 1]
    """
    return _arg("argmin", x, axis, keepdim, dtype)


def _arg(name, x, axis, keepdim, dtype):
    if axis is None:
        found = getattr(layers, name)(layers.reshape(x, [-1]), axis=0)
        found = layers.reshape(found, [1] * len(x.shape)) if keepdim else found
    else:
        found = getattr(layers, name)(x, axis=axis)
        found = layers.unsqueeze(found, [axis % len(x.shape)]) if keepdim else found
    return found if _core.to_dtype(dtype) == found.dtype else layers.cast(found, dtype)


@builds
def topk(x, k, axis=None, largest=True, sorted=True, name=None):
    """(values, indices) of the k largest elements along `axis`, the last one where it is None; of the smallest unless largest.

    >>> values, indices = paddle.topk(paddle.to_tensor([1, 9, 5]), 2)
    >>> values.tolist(), indices.tolist()
    ([9, 5], [1, 2])
    """
    inputs = {"X": x, "K": k} if isinstance(k, _core.Variable) else {"X": x}
    attrs = {"axis": -1 if axis is None else axis, "largest": largest, "sorted": sorted}
    if not isinstance(k, _core.Variable):
        attrs["k"] = k
    values, indices = append("top_k_v2", inputs, {"Out": x.dtype, "Indices": "int64"}, attrs, name)
    indices.stop_gradient = True
    return values, indices


@builds
def argsort(x, axis=-1, descending=False, name=None):
    """The positions that sort x along `axis`, upwards unless descending.

    >>> paddle.argsort(paddle.to_tensor([3, 1, 2])).tolist()
    [1, 2, 0]
    """
    return layers.argsort(x, axis=axis, descending=descending, name=name)[1]


@builds
def sort(x, axis=-1, descending=False, name=None):
    """x sorted along `axis`, upwards unless descending.

    >>> paddle.sort(paddle.to_tensor([3, 1, 2])).tolist()
    [1, 2, 3]
    """
    from argosy.building.shapes import take_along_axis  # fluid's operator hands on no gradient

    return take_along_axis(x, layers.argsort(x, axis=axis, descending=descending, name=name)[1], axis, False)


@builds
def where(condition, x=None, y=None, name=None):
    """x where the condition holds and y elsewhere. Without x and y: where it holds, as nonzero(as_tuple=True).

    >>> paddle.where(paddle.to_tensor([True, False]), paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])).tolist()
    [1, 4]
    """
    if x is None and y is None:
        return nonzero(condition, True)
    if x is None or y is None:
        raise InvalidArgumentError("paddle.where: both x and y are needed, or none of them for positions; found one")
    return _core.layers.where(condition, x, y)


@builds
def nonzero(x, as_tuple=False):
    """The positions of the elements that are not 0, one row each; as_tuple: a column for each axis instead.

    >>> paddle.nonzero(paddle.to_tensor([0, 7, 0, 9])).tolist()
    [[1], [3]]
    """
    found = layers.where(x)
    return tuple(layers.slice(found, [1], [i], [i + 1]) for i in range(len(x.shape))) if as_tuple else found


@builds
def gather(x, index, axis=None, name=None):
    """The slices of x along `axis`, the first one where it is None, at the positions of `index`.

    >>> paddle.gather(paddle.to_tensor([10, 20, 30]), paddle.to_tensor([2, 0])).tolist()
    [30, 10]
    """
    if axis in (None, 0):
        return layers.gather(x, index, overwrite=False)
    order = list(range(len(x.shape)))
    order[0], order[axis] = order[axis], order[0]
    return layers.transpose(layers.gather(layers.transpose(x, order), index, overwrite=False), order)


@builds
def index_select(x, index, axis=0, name=None):
    """The slices of x along `axis` at the positions of `index`.

    >>> paddle.index_select(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([1]), axis=1).tolist()
    [[2], [4]]
    """
    return gather(x, layers.reshape(index, [-1]) if len(index.shape) > 1 else index, axis)


@builds
def gather_nd(x, index, name=None):
    """The elements or slices of x at the positions in the last axis of `index`.

    >>> paddle.gather_nd(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[0, 1], [1, 0]])).tolist()
    [2, 3]
    """
    return layers.gather_nd(x, index, name=name)


@builds
def scatter(x, index, updates, overwrite=True, name=None):
    """x with its rows at `index` replaced by those of `updates`; without overwrite the updates of a row are added up, from 0.

    >>> paddle.scatter(paddle.zeros([3]), paddle.to_tensor([1]), paddle.to_tensor([5.0])).tolist()
    [0.0, 5.0, 0.0]
    """
    return layers.scatter(x, index, updates, name=name, overwrite=overwrite)
