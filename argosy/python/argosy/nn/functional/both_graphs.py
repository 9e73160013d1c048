"""The functions of paddle.nn.functional that exist for both graphs: on variables they build, on tensors those of argosy.dynamic.functional compute."""
from argosy import _core
from argosy.dispatch import builds
from argosy.errors import InvalidArgumentError
from argosy.fluid import layers


def _unary(name, fluid_name=None):
    @builds
    def function(x, name=None):
        return getattr(layers, source)(x, name=name)

    source = fluid_name or name
    function.__name__ = function.__qualname__ = name
    return function


relu, sigmoid, tanh, softplus, softsign, relu6 = map(_unary, ["relu", "sigmoid", "tanh", "softplus", "softsign", "relu6"])
log_sigmoid = _unary("log_sigmoid", "logsigmoid")
silu = swish = _unary("swish")


@builds
def leaky_relu(x, negative_slope=0.01, name=None):
    return layers.leaky_relu(x, alpha=negative_slope, name=name)


@builds
def elu(x, alpha=1.0, name=None):
    return layers.elu(x, alpha=alpha, name=name)


@builds
def gelu(x, approximate=False, name=None):
    return layers.gelu(x, approximate)


@builds
def hardsigmoid(x, slope=1 / 6, offset=0.5, name=None):
    return layers.hard_sigmoid(x, slope=slope, offset=offset, name=name)


@builds
def hardswish(x, name=None):
    return layers.hard_swish(x, name=name)


@builds
def softmax(x, axis=-1, dtype=None, name=None):
    return layers.softmax(x if dtype is None else layers.cast(x, dtype), axis=axis, name=name)


@builds
def log_softmax(x, axis=-1, dtype=None, name=None):
    return layers.log_softmax(x, axis=axis, dtype=dtype, name=name)


@builds
def dropout(x, p=0.5, axis=None, training=True, mode="upscale_in_train", name=None):
    """Elements become 0 with probability p; a program's clone(for_test=True) leaves them."""
    if axis is not None:
        raise InvalidArgumentError("dropout drops single elements; leave axis out")
    if mode not in ("upscale_in_train", "downscale_in_infer"):
        raise InvalidArgumentError(f"dropout: mode is 'upscale_in_train' or 'downscale_in_infer'; found {mode!r}")
    return layers.dropout(x, p, is_test=not training, name=name, dropout_implementation=mode)


@builds
def linear(x, weight, bias=None, name=None):
    product = layers.matmul(x, weight, name=name)
    return product if bias is None else layers.elementwise_add(product, bias)


@builds
def one_hot(x, num_classes, name=None):
    return _core.layers._one_hot_v2(x, num_classes)


@builds
def embedding(x, weight, padding_idx=None, sparse=False, name=None):
    """Rows of `weight` by id."""
    block = x.block.program.current_block()
    out = block.create_var(name=_core.unique_name(f"{name or _core.unique_name('embedding')}.tmp"), dtype=weight.dtype)
    padding = -1 if padding_idx is None else padding_idx % weight.shape[0]
    block.append_op(type="lookup_table_v2", inputs={"Ids": x, "W": weight}, outputs={"Out": out},
                    attrs={"is_sparse": sparse, "padding_idx": padding})
    return out


@builds
def normalize(x, p=2, axis=1, epsilon=1e-12, name=None):
    if p != 2:
        raise InvalidArgumentError(f"normalize: p is 2; found {p}")
    return layers.l2_normalize(x, axis, epsilon=epsilon, name=name)


@builds
def cosine_similarity(x1, x2, axis=1, eps=1e-8):
    product = layers.reduce_sum(layers.elementwise_mul(x1, x2), dim=[axis])
    squares = layers.elementwise_mul(layers.reduce_sum(layers.square(x1), dim=[axis]), layers.reduce_sum(layers.square(x2), dim=[axis]))
    return layers.elementwise_div(product, layers.sqrt(layers.clip(squares, min=eps * eps, max=3.4e38)))


def _reduced(loss, reduction):
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise InvalidArgumentError(f"reduction is 'mean', 'sum' or 'none'; found {reduction!r}")
    return layers.reduce_mean(loss) if reduction == "mean" else layers.reduce_sum(loss)


def _weighted(loss, weight):
    return loss if weight is None else layers.elementwise_mul(loss, weight)


@builds
def softmax_with_cross_entropy(logits, label, soft_label=False, ignore_index=-100, numeric_stable_mode=True, return_softmax=False, axis=-1):
    return layers.softmax_with_cross_entropy(logits, label, soft_label=soft_label, ignore_index=ignore_index,
                                             numeric_stable_mode=numeric_stable_mode, return_softmax=return_softmax, axis=axis)


def _mean_of_counted(loss, label, ignore_index):
    """The mean over the rows whose label is not ignore_index."""
    counted = layers.cast(layers.not_equal(label, layers.fill_constant([1], label.dtype, ignore_index)), loss.dtype)
    total = layers.reduce_sum(layers.elementwise_mul(loss, counted))
    return layers.elementwise_div(total, layers.clip(layers.reduce_sum(counted), min=1.0, max=3.4e38))


@builds
def cross_entropy(input, label, weight=None, ignore_index=-100, reduction="mean", soft_label=False, axis=-1, use_softmax=True,
                  label_smoothing=0.0, name=None):
    """The mean (or sum, or each) of -log of the probability of the label; `input` holds logits unless use_softmax is False."""
    if weight is not None or label_smoothing:
        raise InvalidArgumentError("cross_entropy: classes have no weights and labels are not smoothed here")
    if use_softmax and not soft_label and len(label.shape) == len(input.shape) - 1:
        label = layers.unsqueeze(label, [axis % len(input.shape)])
    if use_softmax:
        loss = layers.softmax_with_cross_entropy(input, label, soft_label=soft_label, ignore_index=ignore_index, axis=axis)
    else:
        loss = layers.cross_entropy(input, label, soft_label=soft_label, ignore_index=ignore_index)
    if reduction == "mean" and not soft_label:
        return _mean_of_counted(loss, label, ignore_index)
    return _reduced(loss, reduction)


@builds
def binary_cross_entropy(input, label, weight=None, reduction="mean", name=None):
    """Of probabilities."""
    return _reduced(_weighted(layers.log_loss(input, label, epsilon=1e-12), weight), reduction)


@builds
def binary_cross_entropy_with_logits(logit, label, weight=None, reduction="mean", pos_weight=None, name=None):
    if pos_weight is not None:
        raise InvalidArgumentError("binary_cross_entropy_with_logits: use weight; there is no pos_weight")
    return _reduced(_weighted(layers.sigmoid_cross_entropy_with_logits(logit, label), weight), reduction)


@builds
def square_error_cost(input, label):
    return layers.square_error_cost(input, label)


@builds
def mse_loss(input, label, reduction="mean", name=None):
    return _reduced(layers.square_error_cost(input, label), reduction)


@builds
def l1_loss(input, label, reduction="mean", name=None):
    return _reduced(layers.abs(layers.elementwise_sub(input, label)), reduction)


@builds
def log_loss(input, label, epsilon=1e-4, name=None):
    return layers.log_loss(input, label, epsilon=epsilon, name=name)


def _pool(x, kind, kernel_size, stride, padding, ceil_mode, exclusive, data_format, name):
    stride = kernel_size if stride is None else stride
    return layers.pool2d(x, pool_size=kernel_size, pool_type=kind, pool_stride=stride, pool_padding=padding, ceil_mode=ceil_mode,
                         exclusive=exclusive, data_format=data_format, name=name)


@builds
def max_pool2d(x, kernel_size, stride=None, padding=0, return_mask=False, ceil_mode=False, data_format="NCHW", name=None):
    if return_mask:
        raise InvalidArgumentError("max_pool2d returns no mask here")
    return _pool(x, "max", kernel_size, stride, padding, ceil_mode, True, data_format, name)


@builds
def avg_pool2d(x, kernel_size, stride=None, padding=0, ceil_mode=False, exclusive=True, divisor_override=None, data_format="NCHW", name=None):
    if divisor_override is not None:
        raise InvalidArgumentError("avg_pool2d divides by the size of the window; leave divisor_override out")
    return _pool(x, "avg", kernel_size, stride, padding, ceil_mode, exclusive, data_format, name)
