"""The functions of paddle.nn.functional that exist for both graphs: on variables they build, on tensors those of argosy.dynamic.functional compute."""

from argosy import _core
from argosy.building.operators import append
from argosy.dispatch import builds
from argosy.errors import InvalidArgumentError
from argosy.fluid import layers
from argosy.fluid.layers import kinds


@builds
def relu(x, name=None):
    """max(x, 0) of each element.

    >>> F.relu(paddle.to_tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return layers.relu(x, name=name)


@builds
def sigmoid(x, name=None):
    """1 / (1 + exp(-x)) of each element.

    >>> print(F.sigmoid(paddle.to_tensor([0.0, 2.0])).numpy())
    [0.5      0.880797]
    """
    return layers.sigmoid(x, name=name)


@builds
def tanh(x, name=None):
    """The hyperbolic tangent of each element.

    >>> print(F.tanh(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        0.7615942]
    """
    return layers.tanh(x, name=name)


@builds
def softplus(x, beta=1, threshold=20, name=None):
    """log(1 + exp(beta * x)) / beta of each element, and x where beta * x is above threshold.

    >>> print(F.softplus(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.6931472 1.3132616]
    """
    if (beta, threshold) != (1, 20):
        return append("softplus", {"X": x}, {"Out": x.dtype}, {"beta": float(beta), "threshold": float(threshold)}, name)[0]
    return layers.softplus(x, name=name)


@builds
def softsign(x, name=None):
    """x / (1 + |x|) of each element.

    >>> F.softsign(paddle.to_tensor([-1.0, 3.0])).tolist()
    [-0.5, 0.75]
    """
    return layers.softsign(x, name=name)


@builds
def relu6(x, name=None):
    """min(max(x, 0), 6) of each element.

    >>> F.relu6(paddle.to_tensor([-1.0, 2.0, 9.0])).tolist()
    [0.0, 2.0, 6.0]
    """
    return layers.relu6(x, name=name)


@builds
def log_sigmoid(x, name=None):
    """log(1 / (1 + exp(-x))) of each element.

    >>> print(F.log_sigmoid(paddle.to_tensor([0.0])).numpy())
    [-0.6931472]
    """
    return layers.logsigmoid(x, name=name)


@builds
def swish(x, name=None):
    """x * sigmoid(x) of each element.

    >>> print(F.swish(paddle.to_tensor([0.0, 2.0])).numpy())
    [0.       1.761594]
    """
    return layers.swish(x, name=name)


silu = swish


@builds
def leaky_relu(x, negative_slope=0.01, name=None):
    """x where it is above 0, and negative_slope * x elsewhere.

    >>> F.leaky_relu(paddle.to_tensor([-10.0, 2.0]), negative_slope=0.5).tolist()
    [-5.0, 2.0]
    """
    return layers.leaky_relu(x, alpha=negative_slope, name=name)


@builds
def elu(x, alpha=1.0, name=None):
    """x where it is above 0, and alpha * (exp(x) - 1) elsewhere.

    >>> print(F.elu(paddle.to_tensor([-1.0, 2.0])).numpy())
    [-0.63212055  2.        ]
    """
    return layers.elu(x, alpha=alpha, name=name)


@builds
def gelu(x, approximate=False, name=None):
    """x times the share of a standard normal distribution that is below it; by a formula with tanh where approximate.

    >>> print(F.gelu(paddle.to_tensor([-1.0, 1.0])).numpy())
    [-0.15865526  0.8413447 ]
    """
    return layers.gelu(x, approximate)


@builds
def hardsigmoid(x, slope=0.1666667, offset=0.5, name=None):
    """slope * x + offset, kept from 0 to 1.

    >>> print(F.hardsigmoid(paddle.to_tensor([-4.0, 0.0, 4.0])).numpy())
    [0.  0.5 1. ]
    """
    return layers.hard_sigmoid(x, slope=slope, offset=offset, name=name)


@builds
def hardswish(x, name=None):
    """x * min(max(x + 3, 0), 6) / 6 of each element.

    >>> F.hardswish(paddle.to_tensor([-4.0, 0.0, 3.0])).tolist()
    [-0.0, 0.0, 3.0]
    """
    return layers.hard_swish(x, name=name)


@builds
def softmax(x, axis=-1, dtype=None, name=None):
    """exp(x) by its sum along `axis`: positive numbers whose sum is 1. In `dtype` where one is given.

    >>> print(F.softmax(paddle.to_tensor([1.0, 1.0, 3.0])).numpy())
    [0.10650698 0.10650698 0.78698605]
    """
    return layers.softmax(x if dtype is None else layers.cast(x, dtype), axis=axis, name=name)


@builds
def log_softmax(x, axis=-1, dtype=None, name=None):
    """The logarithm of softmax(x) along `axis`.

    >>> print(F.log_softmax(paddle.to_tensor([1.0, 1.0])).numpy())
    [-0.6931472 -0.6931472]
    """
    return layers.log_softmax(x, axis=axis, dtype=dtype, name=name)


@builds
def dropout(x, p=0.5, axis=None, training=True, mode="upscale_in_train", name=None):
    """While training, elements become 0 with probability p; those of an axis together where one is given.

    In mode 'upscale_in_train' the others are divided by 1 - p; 'downscale_in_infer' multiplies by 1 - p afterwards instead. A program's
    clone(for_test=True) leaves all elements.

    >>> F.dropout(paddle.ones([3]), 0.5, training=False).tolist()
    [1.0, 1.0, 1.0]
    """
    if mode not in ("upscale_in_train", "downscale_in_infer"):
        raise InvalidArgumentError(f"dropout: mode is 'upscale_in_train' or 'downscale_in_infer'; found {mode!r}")
    if axis is None:
        return layers.dropout(x, p, is_test=not training, name=name, dropout_implementation=mode)
    kept = {one % len(x.shape) for one in ([axis] if isinstance(axis, int) else axis)}
    together = [one for one in range(len(x.shape)) if one not in kept]
    ones = layers.ones_like(layers.reduce_max(x, dim=together, keep_dim=True) if together else x)
    return layers.elementwise_mul(x, layers.dropout(ones, p, is_test=not training, name=name, dropout_implementation=mode))


@builds
def linear(x, weight, bias=None, name=None):
    """x @ weight + bias; the weight is [in, out].

    >>> F.linear(paddle.ones([1, 2]), paddle.ones([2, 3])).tolist()
    [[2.0, 2.0, 2.0]]
    """
    kinds.require_floats("linear", "x", x)
    product = layers.matmul(x, weight, name=name)
    return product if bias is None else layers.elementwise_add(product, bias)


@builds
def one_hot(x, num_classes, name=None):
    """Class numbers as rows of num_classes zeros with a 1 at the class.

    >>> F.one_hot(paddle.to_tensor([2, 0]), 3).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    return _core.layers._one_hot_v2(x, num_classes)


@builds
def embedding(x, weight, padding_idx=None, sparse=False, name=None):
    """Rows of `weight` by id. Those of padding_idx are 0 and take no gradient; sparse: the gradient of the weight has the rows of the batch only.

    >>> F.embedding(paddle.to_tensor([1, 0]), paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """
    kinds.require_whole("embedding", "x", x)
    block = x.block.program.current_block()
    out = block.create_var(name=_core.unique_name(f"{name or _core.unique_name('embedding')}.tmp"), dtype=weight.dtype)
    padding = -1 if padding_idx is None else padding_idx % weight.shape[0]
    block.append_op(type="lookup_table_v2", inputs={"Ids": x, "W": weight}, outputs={"Out": out}, attrs={"is_sparse": sparse, "padding_idx": padding})
    return out


@builds
def normalize(x, p=2, axis=1, epsilon=1e-12, name=None):
    """x divided by its p-norm along `axis`, which counts as `epsilon` at least.

    >>> print(F.normalize(paddle.to_tensor([[3.0, 4.0]])).numpy())
    [[0.6 0.8]]
    """
    powers = layers.reduce_sum(layers.square(x) if p == 2 else layers.pow(layers.abs(x), factor=float(p)), dim=[axis], keep_dim=True)
    norm = layers.sqrt(powers) if p == 2 else layers.pow(powers, factor=1 / p)
    return layers.elementwise_div(x, layers.clip(norm, min=epsilon, max=3.4e38), name=name)


@builds
def cosine_similarity(x1, x2, axis=1, eps=1e-8):
    """The cosine of the angle between x1 and x2 along `axis`.

    >>> F.cosine_similarity(paddle.to_tensor([[1.0, 0.0]]), paddle.to_tensor([[0.0, 2.0]])).tolist()
    [0.0]
    """
    product = layers.reduce_sum(layers.elementwise_mul(x1, x2), dim=[axis])
    squares = layers.elementwise_mul(layers.reduce_sum(layers.square(x1), dim=[axis]), layers.reduce_sum(layers.square(x2), dim=[axis]))
    return layers.elementwise_div(product, layers.sqrt(layers.clip(squares, min=eps * eps, max=3.4e38)))


def reduced(loss, reduction):
    """The mean or sum of a loss, or itself."""
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise InvalidArgumentError(f"reduction is 'mean', 'sum' or 'none'; found {reduction!r}")
    return layers.reduce_mean(loss) if reduction == "mean" else layers.reduce_sum(loss)


def _weighted(loss, weight):
    return loss if weight is None else layers.elementwise_mul(loss, weight)


@builds
def softmax_with_cross_entropy(logits, label, soft_label=False, ignore_index=-100, numeric_stable_mode=True, return_softmax=False, axis=-1):
    """-log of softmax(logits) at the label along `axis`, for each sample.

    The label has class numbers with an axis of size 1, of which ignore_index gives 0; or probabilities where soft_label. With return_softmax the
    result is (loss, softmax).

    >>> print(F.softmax_with_cross_entropy(paddle.to_tensor([[0.0, 0.0]]), paddle.to_tensor([[1]])).numpy())
    [[0.6931472]]
    """
    return layers.softmax_with_cross_entropy(
        logits, label, soft_label=soft_label, ignore_index=ignore_index, numeric_stable_mode=numeric_stable_mode, return_softmax=return_softmax, axis=axis
    )


def _mean_of_counted(loss, label, ignore_index):
    """The mean over the rows whose label is not ignore_index."""
    counted = layers.cast(layers.not_equal(label, layers.fill_constant([1], label.dtype, ignore_index)), loss.dtype)
    total = layers.reduce_sum(layers.elementwise_mul(loss, counted))
    return layers.elementwise_div(total, layers.clip(layers.reduce_sum(counted), min=1.0, max=3.4e38))


@builds
def cross_entropy(input, label, weight=None, ignore_index=-100, reduction="mean", soft_label=False, axis=-1, use_softmax=True, label_smoothing=0.0, name=None):
    """The mean, or sum, or each, of -log of the probability of the label; `input` holds logits unless use_softmax is False.

    The label has class numbers, of which ignore_index does not count, or probabilities where soft_label. `weight` has a number for each class;
    label_smoothing takes that share of a label's probability and gives it to all classes.

    >>> print(F.cross_entropy(paddle.to_tensor([[0.0, 0.0], [9.0, 0.0]]), paddle.to_tensor([1, 0])).numpy())
    0.34663528
    """
    hard = not soft_label
    if hard and len(label.shape) == len(input.shape) - 1:
        label = layers.unsqueeze(label, [axis % len(input.shape)])
    if label_smoothing:
        label = one_hot(layers.squeeze(label, [axis % len(input.shape)]), input.shape[axis]) if hard else label
        label, hard = label * (1 - label_smoothing) + label_smoothing / input.shape[axis], False
    if use_softmax:
        loss = layers.softmax_with_cross_entropy(input, label, soft_label=not hard, ignore_index=ignore_index, axis=axis)
    else:
        loss = layers.cross_entropy(input, label, soft_label=not hard, ignore_index=ignore_index)
    if weight is not None:
        return _weighted_classes(loss, label, weight, hard, ignore_index, reduction, axis)
    if reduction == "mean" and hard:
        return _mean_of_counted(loss, label, ignore_index)
    return reduced(loss, reduction)


def _weighted_classes(loss, label, weight, hard, ignore_index, reduction, axis):
    """Losses of samples times the weights of their classes; the mean is by the sum of the weights."""
    axis %= len(loss.shape)
    if hard:
        counted = layers.cast(layers.not_equal(label, layers.fill_constant([1], label.dtype, ignore_index)), loss.dtype)
        rows = layers.gather(weight, layers.reshape(layers.elementwise_mul(label, layers.cast(counted, label.dtype)), [-1]), overwrite=False)
        share = layers.elementwise_mul(layers.reshape(rows, layers.shape(label)), counted)
    else:
        by_class = layers.reshape(weight, [-1 if i == axis else 1 for i in range(len(label.shape))])
        share = layers.reduce_sum(layers.elementwise_mul(label, by_class), dim=[axis], keep_dim=True)
    loss = layers.elementwise_mul(loss, share)
    if reduction == "mean":
        return layers.elementwise_div(layers.reduce_sum(loss), layers.reduce_sum(share))
    return reduced(loss, reduction)


def chosen_classes(values, label, weight, ignore_index, reduction):
    """`values` at the labels, [..., classes] and [...]: as cross_entropy reduces and weighs them."""
    shown = one_hot(layers.elementwise_max(label, layers.zeros_like(label)), values.shape[-1])
    loss = layers.reduce_sum(layers.elementwise_mul(values, shown), dim=[-1])
    counted = layers.cast(layers.not_equal(label, layers.fill_constant([1], label.dtype, ignore_index)), loss.dtype)
    share = counted if weight is None else layers.elementwise_mul(layers.reduce_sum(layers.elementwise_mul(shown, weight), dim=[-1]), counted)
    loss = layers.elementwise_mul(loss, share)
    return layers.elementwise_div(layers.reduce_sum(loss), layers.reduce_sum(share)) if reduction == "mean" else reduced(loss, reduction)


@builds
def binary_cross_entropy(input, label, weight=None, reduction="mean", name=None):
    """-label * log(input) - (1 - label) * log(1 - input) of probabilities: the mean, the sum or each ('none'), weighted where a weight is given.

    >>> print(F.binary_cross_entropy(paddle.to_tensor([0.5, 0.5]), paddle.to_tensor([0.0, 1.0])).numpy())
    0.6931472
    """
    return reduced(_weighted(layers.log_loss(input, label, epsilon=1e-12), weight), reduction)


@builds
def binary_cross_entropy_with_logits(logit, label, weight=None, reduction="mean", pos_weight=None, name=None):
    """binary_cross_entropy of sigmoid(logit), without overflow.

    pos_weight weighs the positive part, as Paddle's documents say; 2.6.2's kernel weighs another term.

    >>> print(F.binary_cross_entropy_with_logits(paddle.to_tensor([0.0]), paddle.to_tensor([1.0])).numpy())
    0.6931472
    """
    loss = layers.sigmoid_cross_entropy_with_logits(logit, label)
    if pos_weight is not None:  # the part of the label 1 is label * softplus(-logit)
        loss = loss + layers.softplus(-logit) * label * (pos_weight - 1.0)
    return reduced(_weighted(loss, weight), reduction)


@builds
def square_error_cost(input, label):
    """(input - label) ** 2 of each element.

    >>> F.square_error_cost(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([1.0, 1.0])).tolist()
    [0.0, 4.0]
    """
    return layers.square_error_cost(input, label)


@builds
def mse_loss(input, label, reduction="mean", name=None):
    """(input - label) ** 2: the mean, the sum or each ('none').

    >>> F.mse_loss(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([1.0, 1.0])).item()
    2.0
    """
    return reduced(layers.square_error_cost(input, label), reduction)


@builds
def l1_loss(input, label, reduction="mean", name=None):
    """|input - label|: the mean, the sum or each ('none').

    >>> F.l1_loss(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([1.0, 1.0])).item()
    1.0
    """
    return reduced(layers.abs(layers.elementwise_sub(input, label)), reduction)


@builds
def log_loss(input, label, epsilon=1e-4, name=None):
    """-label * log(input + epsilon) - (1 - label) * log(1 - input + epsilon) of each probability.

    >>> print(F.log_loss(paddle.to_tensor([[0.5]]), paddle.to_tensor([[1.0]])).numpy())
    [[0.69294715]]
    """
    return layers.log_loss(input, label, epsilon=epsilon, name=name)


def _pool(x, kind, kernel_size, stride, padding, ceil_mode, exclusive, data_format, name):
    stride = kernel_size if stride is None else stride
    return layers.pool2d(
        x,
        pool_size=kernel_size,
        pool_type=kind,
        pool_stride=stride,
        pool_padding=padding,
        ceil_mode=ceil_mode,
        exclusive=exclusive,
        data_format=data_format,
        name=name,
    )


@builds
def max_pool2d(x, kernel_size, stride=None, padding=0, return_mask=False, ceil_mode=False, data_format="NCHW", name=None):
    """The largest value of each window of images [batch, channels, height, width]; kernel_size, stride and padding are a number or one for each axis.

    The stride is the kernel's size unless given; ceil_mode also takes windows that reach beyond the end. return_mask adds the positions of the
    values.

    >>> F.max_pool2d(paddle.arange(16, dtype="float32").reshape([1, 1, 4, 4]), 2).tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """
    if return_mask:
        from argosy.building.functional.images import max_pool2d_with_mask

        return max_pool2d_with_mask(x, kernel_size, stride, padding, ceil_mode, data_format, name)
    return _pool(x, "max", kernel_size, stride, padding, ceil_mode, True, data_format, name)


@builds
def avg_pool2d(x, kernel_size, stride=None, padding=0, ceil_mode=False, exclusive=True, divisor_override=None, data_format="NCHW", name=None):
    """The mean of each window of images [batch, channels, height, width]; kernel_size, stride and padding are a number or one for each axis.

    The stride is the kernel's size unless given; exclusive counts no padding; ceil_mode also takes windows that reach beyond the end.

    >>> F.avg_pool2d(paddle.arange(16, dtype="float32").reshape([1, 1, 4, 4]), 2).tolist()
    [[[[2.5, 4.5], [10.5, 12.5]]]]
    """
    if divisor_override is not None:
        raise InvalidArgumentError("avg_pool2d divides by the size of the window; leave divisor_override out")
    return _pool(x, "avg", kernel_size, stride, padding, ceil_mode, exclusive, data_format, name)
