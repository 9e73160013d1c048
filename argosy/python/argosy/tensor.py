"""The tensor functions of 2.x that exist for both graphs: on variables each adds operators to the default main program, on tensors the
function of the same name in argosy.dynamic computes.
"""
import sys

from argosy import _core
from argosy.building.operators import append
from argosy.dispatch import builds, computing
from argosy.errors import InvalidArgumentError
from argosy.fluid import layers

_LARGEST = 3.4028234663852886e38  # of float32


@builds
def exp(x, name=None):
    """e to the power of each element of x.

    >>> print(paddle.exp(paddle.to_tensor([0.0, 1.0])).numpy())
    [1.        2.7182817]
    """
    return layers.exp(x, name=name)


@builds
def log(x, name=None):
    """The natural logarithm of each element of x.

    >>> print(paddle.log(paddle.to_tensor([1.0, 10.0])).numpy())
    [0.        2.3025851]
    """
    return layers.log(x, name=name)


@builds
def sqrt(x, name=None):
    """The square root of each element of x; nan below 0.

    >>> paddle.sqrt(paddle.to_tensor([4.0, 9.0])).tolist()
    [2.0, 3.0]
    """
    return layers.sqrt(x, name=name)


@builds
def rsqrt(x, name=None):
    """1 / sqrt(x) of each element.

    >>> paddle.rsqrt(paddle.to_tensor([4.0, 16.0])).tolist()
    [0.5, 0.25]
    """
    return layers.rsqrt(x, name=name)


@builds
def square(x, name=None):
    """Each element of x times itself.

    >>> paddle.square(paddle.to_tensor([2.0, -3.0])).tolist()
    [4.0, 9.0]
    """
    return layers.square(x, name=name)


@builds
def abs(x, name=None):
    """The absolute value of each element of x.

    >>> paddle.abs(paddle.to_tensor([-1.5, 2.0])).tolist()
    [1.5, 2.0]
    """
    return layers.abs(x, name=name)


@builds
def tanh(x, name=None):
    """The hyperbolic tangent of each element of x.

    >>> print(paddle.tanh(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        0.7615942]
    """
    return layers.tanh(x, name=name)


@builds
def ceil(x, name=None):
    """Each element of x, rounded up.

    >>> paddle.ceil(paddle.to_tensor([1.2, -1.2])).tolist()
    [2.0, -1.0]
    """
    return layers.ceil(x, name=name)


@builds
def floor(x, name=None):
    """Each element of x, rounded down.

    >>> paddle.floor(paddle.to_tensor([1.2, -1.2])).tolist()
    [1.0, -2.0]
    """
    return layers.floor(x, name=name)


@builds
def round(x, name=None):
    """Each element of x as the nearest whole number. Halves go away from 0.

    >>> paddle.round(paddle.to_tensor([0.5, 1.5, -0.4])).tolist()
    [1.0, 2.0, -0.0]
    """
    return layers.round(x, name=name)


@builds
def reciprocal(x, name=None):
    """1 / x of each element.

    >>> paddle.reciprocal(paddle.to_tensor([2.0, 4.0])).tolist()
    [0.5, 0.25]
    """
    return layers.reciprocal(x, name=name)


@builds
def sin(x, name=None):
    """The sine of each element of x, which is in radians.

    >>> print(paddle.sin(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.         0.84147096]
    """
    return layers.sin(x, name=name)


@builds
def cos(x, name=None):
    """The cosine of each element of x, which is in radians.

    >>> print(paddle.cos(paddle.to_tensor([0.0, 1.0])).numpy())
    [1.         0.54030234]
    """
    return layers.cos(x, name=name)


@builds
def less_than(x, y, name=None):
    """Whether x is less than y, for each pair of elements. Returns booleans.

    >>> paddle.less_than(paddle.to_tensor([1, 2]), paddle.to_tensor([2, 2])).tolist()
    [True, False]
    """
    return layers.less_than(x, y)


@builds
def less_equal(x, y, name=None):
    """Whether x is at most y, for each pair of elements. Returns booleans.

    >>> paddle.less_equal(paddle.to_tensor([1, 3]), paddle.to_tensor([1, 2])).tolist()
    [True, False]
    """
    return layers.less_equal(x, y)


@builds
def greater_than(x, y, name=None):
    """Whether x is greater than y, for each pair of elements. Returns booleans.

    >>> paddle.greater_than(paddle.to_tensor([1, 3]), paddle.to_tensor([1, 2])).tolist()
    [False, True]
    """
    return layers.greater_than(x, y)


@builds
def greater_equal(x, y, name=None):
    """Whether x is at least y, for each pair of elements. Returns booleans.

    >>> paddle.greater_equal(paddle.to_tensor([1, 1]), paddle.to_tensor([1, 2])).tolist()
    [True, False]
    """
    return layers.greater_equal(x, y)


@builds
def equal(x, y, name=None):
    """Whether x equals y, for each pair of elements. Returns booleans.

    >>> paddle.equal(paddle.to_tensor([1, 3]), paddle.to_tensor([1, 2])).tolist()
    [True, False]
    """
    return layers.equal(x, y)


@builds
def not_equal(x, y, name=None):
    """Whether x differs from y, for each pair of elements. Returns booleans.

    >>> paddle.not_equal(paddle.to_tensor([1, 3]), paddle.to_tensor([1, 2])).tolist()
    [False, True]
    """
    return layers.not_equal(x, y)


@builds
def add(x, y, name=None):
    """x + y. Shapes are matched from the last axis on, and axes of size 1 are repeated.

    >>> paddle.add(paddle.to_tensor([[1], [2]]), paddle.to_tensor([10, 20])).tolist()
    [[11, 21], [12, 22]]
    """
    return layers.elementwise_add(x, y, name=name)


@builds
def subtract(x, y, name=None):
    """x - y. Shapes are matched from the last axis on, and axes of size 1 are repeated.

    >>> paddle.subtract(paddle.to_tensor([5, 7]), paddle.to_tensor([1, 2])).tolist()
    [4, 5]
    """
    return layers.elementwise_sub(x, y, name=name)


@builds
def multiply(x, y, name=None):
    """x * y, element by element. Shapes are matched from the last axis on, and axes of size 1 are repeated.

    >>> paddle.multiply(paddle.to_tensor([2, 3]), paddle.to_tensor([4, 5])).tolist()
    [8, 15]
    """
    return layers.elementwise_mul(x, y, name=name)


@builds
def divide(x, y, name=None):
    """x / y, element by element; of whole numbers too it is a float.

    >>> paddle.divide(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([2.0, 2.0])).tolist()
    [0.5, 1.5]
    """
    return layers.elementwise_div(x, y, name=name)


@builds
def maximum(x, y, name=None):
    """The larger one of each pair of elements; nan where one of them is nan.

    >>> paddle.maximum(paddle.to_tensor([1, 5]), paddle.to_tensor([3, 2])).tolist()
    [3, 5]
    """
    return layers.elementwise_max(x, y, name=name)


@builds
def minimum(x, y, name=None):
    """The smaller one of each pair of elements; nan where one of them is nan.

    >>> paddle.minimum(paddle.to_tensor([1, 5]), paddle.to_tensor([3, 2])).tolist()
    [1, 2]
    """
    return layers.elementwise_min(x, y, name=name)


@builds
def mod(x, y, name=None):
    """What is left of x when it is divided by y, with the sign of y.

    >>> paddle.mod(paddle.to_tensor([7, -7]), paddle.to_tensor([3, 3])).tolist()
    [1, 2]
    """
    return layers.elementwise_mod(x, y, name=name)


remainder = mod


@builds
def floor_divide(x, y, name=None):
    """x / y, rounded down.

    >>> paddle.floor_divide(paddle.to_tensor([7, 9]), paddle.to_tensor([2, 3])).tolist()
    [3, 3]
    """
    return layers.elementwise_floordiv(x, y, name=name)


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
    return layers.reduce_sum(x if dtype is None else layers.cast(x, dtype), dim=axis, keep_dim=keepdim, name=name)


@builds
def prod(x, axis=None, keepdim=False, dtype=None, name=None):
    """The product along `axis`, a number or a list; of all elements where it is None. In `dtype` where one is given.

    >>> paddle.prod(paddle.to_tensor([[1, 2], [3, 4]]), axis=1).tolist()
    [2, 12]
    """
    return layers.reduce_prod(x if dtype is None else layers.cast(x, dtype), dim=axis, keep_dim=keepdim, name=name)


@builds
def pow(x, y, name=None):
    """x to the power y, a number or, element by element, a tensor.

    >>> paddle.pow(paddle.to_tensor([2.0, 3.0]), 2).tolist()
    [4.0, 9.0]
    """
    return layers.elementwise_pow(x, y, name=name) if isinstance(y, _core.Variable) else layers.pow(x, factor=y, name=name)


@builds
def erf(x, name=None):
    """The error function of each element of x.

    >>> print(paddle.erf(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        0.8427008]
    """
    return layers.erf(x)


@builds
def sign(x, name=None):
    """The sign of each element of x: -1, 0 or 1.

    >>> paddle.sign(paddle.to_tensor([-3.0, 0.0, 2.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    return layers.sign(x)


@builds
def neg(x, name=None):
    """-x of each element.

    >>> paddle.neg(paddle.to_tensor([1.0, -2.0])).tolist()
    [-1.0, 2.0]
    """
    return layers.scale(x, scale=-1.0, name=name)


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
def add_n(inputs, name=None):
    """The sum of a list of tensors of one shape.

    >>> paddle.add_n([paddle.to_tensor([1, 2]), paddle.to_tensor([10, 20])]).tolist()
    [11, 22]
    """
    return layers.sums(list(inputs) if isinstance(inputs, (list, tuple)) else [inputs])


@builds
def scale(x, scale=1.0, bias=0.0, bias_after_scale=True, act=None, name=None):
    """scale * x + bias, or scale * (x + bias) unless bias_after_scale; then the activation `act`, by name.

    >>> paddle.scale(paddle.to_tensor([1.0, 2.0]), scale=2.0, bias=1.0).tolist()
    [3.0, 5.0]
    """
    return layers.scale(x, scale=scale, bias=bias, bias_after_scale=bias_after_scale, act=act, name=name)


@builds
def clip(x, min=None, max=None, name=None):
    """x with elements below `min` or above `max` replaced by these; None is no limit.

    >>> paddle.clip(paddle.to_tensor([-1.0, 0.5, 2.0]), 0.0, 1.0).tolist()
    [0.0, 0.5, 1.0]
    """
    return layers.clip(x, min=-_LARGEST if min is None else min, max=_LARGEST if max is None else max, name=name)


@builds
def cumsum(x, axis=None, dtype=None, name=None):
    """Sums of all elements up to each one along `axis`; of the flattened tensor where it is None.

    >>> paddle.cumsum(paddle.to_tensor([1, 2, 3])).tolist()
    [1, 3, 6]
    """
    x = x if dtype is None else layers.cast(x, dtype)
    return layers.cumsum(layers.reshape(x, [-1]), axis=0) if axis is None else layers.cumsum(x, axis=axis)


@builds
def increment(x, value=1.0, name=None):
    """Adds `value` to x in place, and returns x.

    >>> paddle.increment(paddle.to_tensor([1.0])).tolist()
    [2.0]
    """
    return layers.increment(x, value=value)


@builds
def cast(x, dtype):
    """x as another type.

    >>> paddle.cast(paddle.to_tensor([1.7, 2.2]), "int64").tolist()
    [1, 2]
    """
    return layers.cast(x, dtype)


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
    """x where the condition holds and y elsewhere. On tensors, without x and y: where it holds, as nonzero(as_tuple=True).

    >>> paddle.where(paddle.to_tensor([True, False]), paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])).tolist()
    [1, 4]
    """
    if x is None or y is None:
        raise InvalidArgumentError("paddle.where: both x and y are needed; paddle.nonzero gives positions")
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
    return gather(x, index, axis)


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


@builds
def logical_and(x, y, out=None, name=None):
    """Whether x and y are both True, for each pair of elements; written to `out` where one is given.

    >>> paddle.logical_and(paddle.to_tensor([True, True]), paddle.to_tensor([True, False])).tolist()
    [True, False]
    """
    return layers.logical_and(x, y, out, name)


@builds
def logical_or(x, y, out=None, name=None):
    """Whether x or y is True, for each pair of elements; written to `out` where one is given.

    >>> paddle.logical_or(paddle.to_tensor([True, False]), paddle.to_tensor([False, False])).tolist()
    [True, False]
    """
    return layers.logical_or(x, y, out, name)


@builds
def logical_xor(x, y, out=None, name=None):
    """Whether just one of x and y is True, for each pair of elements; written to `out` where one is given.

    >>> paddle.logical_xor(paddle.to_tensor([True, True]), paddle.to_tensor([True, False])).tolist()
    [False, True]
    """
    return layers.logical_xor(x, y, out, name)


@builds
def logical_not(x, out=None, name=None):
    """Whether each element is False; written to `out` where one is given.

    >>> paddle.logical_not(paddle.to_tensor([True, False])).tolist()
    [False, True]
    """
    return layers.logical_not(x, out, name)


def is_tensor(x):
    """Whether x is a tensor, or a variable of a static program.

    >>> paddle.is_tensor(paddle.zeros([1])), paddle.is_tensor([0.0])
    (True, False)
    """
    return isinstance(x, _core.Variable) or computing(__name__, "is_tensor")(x)


def __getattr__(name):
    """What makes new tensors, and what is defined in the dynamic graph."""
    if name.startswith("_"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from argosy import creation

    return getattr(creation, name) if name in creation.__all__ else computing(__name__, name)


__all__ = sorted(name for name, value in vars(sys.modules[__name__]).items()  # pyright: ignore[reportUnsupportedDunderAll]
                 if callable(value) and not name.startswith("_") and name not in ("append", "builds", "computing", "InvalidArgumentError"))
