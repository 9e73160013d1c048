"""fluid.layers on tensors, as in the dynamic graph of 1.8: its names and arguments over the functions of 2.x.

What has no axes in 2.x, as a mean, has one of size 1, as 1.8's tensors always have.
"""

from typing import Any

from argosy import metric
from argosy.dynamic import functional, functions
from argosy.errors import InvalidArgumentError

F: Any = functional
T: Any = functions

# Those with the same arguments in 1.8 and 2.x.
_SAME = """
    abs acos asin assign atan bmm cast ceil clip concat cos create_parameter erf exp floor gather_nd isfinite linspace log logical_and
    logical_not logical_or logical_xor ones reciprocal reverse round rsqrt shape sigmoid sign sin slice sqrt square stack strided_slice tanh
    transpose unstack zeros
""".split()
globals().update({name: getattr(functions, name) for name in _SAME})
relu, softsign, log_softmax, gelu, elu = F.relu, F.softsign, F.log_softmax, F.gelu, F.elu
logsigmoid, tanh_shrink, square_error_cost, log_loss = F.log_sigmoid, F.tanhshrink, F.square_error_cost, F.log_loss
sequence_mask = F.sequence_mask


def activated(x, act):
    """x after the activation of this name; as it is where None."""
    if act is None:
        return x
    found = globals().get(act) or getattr(F, act, None)
    if found is None:
        raise InvalidArgumentError(f"act is the name of an activation, such as 'relu'; found {act!r}")
    return found(x)


def _one_axis(x):
    return T.reshape(x, [1]) if x.ndim == 0 else x


def _aligned(x, y, axis):
    """y with axes of size 1 behind, so that its first is x's `axis`."""
    if axis == -1 or not hasattr(y, "ndim") or y.ndim == x.ndim:
        return y
    return T.reshape(y, [*y.shape, *[1] * (x.ndim - axis - y.ndim)])


def _elementwise(name, function):
    def called(x, y, axis=-1, act=None, name=None):
        return activated(function(x, _aligned(x, y, axis)), act)

    called.__name__ = name
    return called


elementwise_add = _elementwise("elementwise_add", T.add)
elementwise_sub = _elementwise("elementwise_sub", T.subtract)
elementwise_mul = _elementwise("elementwise_mul", T.multiply)
elementwise_div = _elementwise("elementwise_div", T.divide)
elementwise_max = _elementwise("elementwise_max", T.maximum)
elementwise_min = _elementwise("elementwise_min", T.minimum)
elementwise_pow = _elementwise("elementwise_pow", T.pow)
elementwise_mod = _elementwise("elementwise_mod", T.remainder)
elementwise_floordiv = _elementwise("elementwise_floordiv", T.floor_divide)


def _reduction(function):
    def called(input, dim=None, keep_dim=False, name=None):
        return _one_axis(function(input, axis=dim, keepdim=keep_dim))

    return called


reduce_sum, reduce_mean, reduce_max = _reduction(T.sum), _reduction(T.mean), _reduction(T.max)
reduce_min, reduce_prod, reduce_all, reduce_any = _reduction(T.min), _reduction(T.prod), _reduction(T.all), _reduction(T.any)


def _comparison(function):
    def called(x, y, cond=None, force_cpu=None):
        found = function(x, y)
        return found if cond is None else T.assign(found, cond)

    return called


equal, not_equal = _comparison(T.equal), _comparison(T.not_equal)
less_equal, greater_than, greater_equal = _comparison(T.less_equal), _comparison(T.greater_than), _comparison(T.greater_equal)


def less_than(x, y, force_cpu=None, cond=None):
    return _comparison(T.less_than)(x, y, cond)


# Sums and products.
def mean(x, name=None):
    return _one_axis(T.mean(x))


def sum(x):
    return T.add_n(x)


def sums(input, out=None):
    found = T.add_n(input)
    return found if out is None else T.assign(found, out)


def matmul(x, y, transpose_x=False, transpose_y=False, alpha=1.0, name=None):
    found = T.matmul(x, y, transpose_x, transpose_y)
    return found if alpha == 1.0 else T.scale(found, alpha)


def mul(x, y, x_num_col_dims=1, y_num_col_dims=1, name=None):
    rows, columns = list(x.shape[:x_num_col_dims]), list(y.shape[y_num_col_dims:])
    left = T.reshape(x, [T.zeros(rows)._torch.numel(), -1])
    right = T.reshape(y, [left.shape[1], -1])
    return T.reshape(T.matmul(left, right), [*rows, *columns])


def dot(x, y, name=None):
    return T.sum(T.multiply(x, y), axis=-1, keepdim=True)


def scale(x, scale=1.0, bias=0.0, bias_after_scale=True, act=None, name=None):
    return activated(T.scale(x, scale, bias, bias_after_scale), act)


def pow(x, factor=1.0, name=None):
    return T.pow(x, factor)


def cumsum(x, axis=None, exclusive=None, reverse=None):
    axis = x.ndim - 1 if axis is None else axis
    turned = T.flip(x, [axis]) if reverse else x
    found = T.cumsum(turned, axis)
    found = T.subtract(found, turned) if exclusive else found
    return T.flip(found, [axis]) if reverse else found


def clip_by_norm(x, max_norm, name=None):
    norm = float(T.norm(x))
    return T.scale(x, max_norm / norm) if norm > max_norm else x


def l2_normalize(x, axis, epsilon=1e-12, name=None):
    total = T.sum(T.square(x), axis=axis, keepdim=True)
    return T.multiply(x, T.rsqrt(T.clip(total, min=epsilon)))


def cos_sim(X, Y):
    return T.reshape(F.cosine_similarity(X, Y, axis=1), [-1, 1])


def increment(x, value=1.0, in_place=True):
    return T.increment(x, value) if in_place else T.scale(x, 1.0, value)


# Shapes.
def reshape(x, shape, actual_shape=None, act=None, inplace=False, name=None):
    sizes = shape if actual_shape is None else actual_shape
    return activated(T.reshape(x, sizes), act)


def squeeze(input, axes, name=None):
    return T.squeeze(input, axes or None)


def unsqueeze(input, axes, name=None):
    return T.unsqueeze(input, axes)


def flatten(x, axis=1, name=None):
    rows = 1
    for size in x.shape[:axis]:
        rows *= size
    return T.reshape(x, [rows, -1])


def expand(x, expand_times, name=None):
    return T.tile(x, expand_times)


def expand_as(x, target_tensor, name=None):
    return T.expand_as(x, target_tensor)


def split(input, num_or_sections, dim=-1, name=None):
    return T.split(input, num_or_sections, dim)


def pad(x, paddings, pad_value=0.0, name=None):
    return F.pad(x, paddings, value=pad_value)


def gather(input, index, overwrite=True):
    return T.gather(input, T.reshape(index, [-1]))


def scatter(input, index, updates, name=None, overwrite=True):
    return T.scatter(input, index, updates, overwrite)


def where(condition):
    return T.nonzero(condition)


def one_hot(input, depth, allow_out_of_range=False):
    ids = T.squeeze(input, -1) if input.ndim > 1 and input.shape[-1] == 1 else input
    return F.one_hot(ids, depth)


def size(input):
    return T.reshape(T.numel(input), [1])


# Order.
def argmax(x, axis=0):
    return T.argmax(x, axis)


def argmin(x, axis=0):
    return T.argmin(x, axis)


def argsort(input, axis=-1, descending=False, name=None):
    return T.sort(input, axis, descending), T.argsort(input, axis, descending)


def topk(input, k, name=None):
    return T.topk(input, k)


# What is new.
def fill_constant(shape, dtype, value, force_cpu=False, out=None, name=None):
    made = T.full(shape, value, dtype)
    return made if out is None else T.assign(made, out)


def zeros_like(x, out=None):
    made = T.zeros_like(x)
    return made if out is None else T.assign(made, out)


def ones_like(x, out=None):
    made = T.ones_like(x)
    return made if out is None else T.assign(made, out)


def range(start, end, step, dtype, name=None):
    return T.arange(start, end, step, dtype)


def uniform_random(shape, dtype="float32", min=-1.0, max=1.0, seed=0, name=None):
    return T.uniform(shape, dtype, min, max, seed)


def gaussian_random(shape, mean=0.0, std=1.0, seed=0, dtype="float32"):
    if seed:
        raise InvalidArgumentError("gaussian_random: a seed of its own is for programs; paddle.seed() gives the dynamic graph one")
    return T.cast(T.normal(mean, std, shape), dtype)


# Activations.
def softmax(input, use_cudnn=False, name=None, axis=-1):
    return F.softmax(input, axis)


def leaky_relu(x, alpha=0.02, name=None):
    return F.leaky_relu(x, alpha)


def relu6(x, threshold=6.0, name=None):
    return T.clip(x, 0.0, threshold)


def softplus(x, name=None):
    return F.softplus(x)


def swish(x, beta=1.0, name=None):
    return T.multiply(x, T.sigmoid(T.scale(x, beta)))


def hard_sigmoid(x, slope=0.2, offset=0.5, name=None):
    return F.hardsigmoid(x, slope, offset)


def hard_swish(x, threshold=6.0, scale=6.0, offset=3.0, name=None):
    return T.scale(T.multiply(x, T.clip(T.scale(x, 1.0, offset), 0.0, threshold)), 1.0 / scale)


def dropout(x, dropout_prob, is_test=False, seed=None, name=None, dropout_implementation="downgrade_in_infer"):
    if seed is not None:
        raise InvalidArgumentError("dropout: a seed of its own is for programs; paddle.seed() gives the dynamic graph one")
    mode = {"downgrade_in_infer": "downscale_in_infer"}.get(dropout_implementation, dropout_implementation)  # 2.x's word for the same
    return F.dropout(x, dropout_prob, training=not is_test, mode=mode)


def pool2d(
    input,
    pool_size=-1,
    pool_type="max",
    pool_stride=1,
    pool_padding=0,
    global_pooling=False,
    use_cudnn=True,
    ceil_mode=False,
    name=None,
    exclusive=True,
    data_format="NCHW",
):
    if pool_type not in ("max", "avg"):
        raise InvalidArgumentError(f"pool2d: pool_type is 'max' or 'avg'; found {pool_type!r}")
    if global_pooling:
        pool_size = input.shape[2:4] if data_format == "NCHW" else input.shape[1:3]
        pool_padding = 0
    if pool_type == "max":
        return F.max_pool2d(input, pool_size, pool_stride, pool_padding, ceil_mode=ceil_mode, data_format=data_format)
    return F.avg_pool2d(input, pool_size, pool_stride, pool_padding, ceil_mode, exclusive, data_format=data_format)


# Losses and metrics: one value for each sample.
def cross_entropy(input, label, soft_label=False, ignore_index=-100):
    return F.cross_entropy(input, label, ignore_index=ignore_index, reduction="none", soft_label=soft_label, use_softmax=False)


def softmax_with_cross_entropy(logits, label, soft_label=False, ignore_index=-100, numeric_stable_mode=True, return_softmax=False, axis=-1):
    return F.softmax_with_cross_entropy(logits, label, soft_label, ignore_index, numeric_stable_mode, return_softmax, axis)


def sigmoid_cross_entropy_with_logits(x, label, ignore_index=-100, name=None, normalize=False):
    counted = T.cast(T.not_equal(label, T.full_like(label, ignore_index)), x.dtype)
    found = T.multiply(F.binary_cross_entropy_with_logits(x, label, reduction="none"), counted)
    return T.divide(found, T.sum(counted)) if normalize else found


def mse_loss(input, label):
    return _one_axis(F.mse_loss(input, label))


def kldiv_loss(x, target, reduction="mean", name=None):
    return _one_axis(F.kl_div(x, target, reduction))


def accuracy(input, label, k=1, correct=None, total=None):
    if correct is not None or total is not None:
        raise InvalidArgumentError("accuracy: correct and total are variables of programs; on tensors it returns the fraction alone")
    return _one_axis(metric.accuracy(input, label, k))
