"""Activations. Those that programs have too are the operators' own kernels: the table of their entries, on tensors."""

import torch
from torch.nn import functional

from argosy import _core
from argosy.dynamic import dtypes
from argosy.dynamic.calls import computes, on_tensors
from argosy.dynamic.in_place import changing
from argosy.errors import InvalidArgumentError

_entries = _core.on_tensors


def _typed(x, dtype):
    return x if dtype is None else x.to(dtypes.to_torch(dtype))


@computes
def leaky_relu(x, negative_slope=0.01, name=None):
    return _entries.leaky_relu(x, negative_slope)


@computes
def prelu(x, weight, data_format="NCHW", name=None):
    """x where it is above 0, and weight * x elsewhere; the weight is one number, or one for each channel.

    >>> F.prelu(paddle.to_tensor([[-4.0, 2.0]]), paddle.to_tensor([0.25])).tolist()
    [[-1.0, 2.0]]
    """
    if data_format[1] != "C" and weight.numel() > 1:
        return torch.where(x >= 0, x, x * weight)
    return functional.prelu(x, weight.reshape(-1))


@computes
def rrelu(x, lower=1 / 8, upper=1 / 3, training=True, name=None):
    """x where it is above 0, and a slope times x elsewhere: drawn between lower and upper while training, and their mean afterwards.

    >>> F.rrelu(paddle.to_tensor([-1.0, 2.0]), 0.5, 0.5).tolist()
    [-0.5, 2.0]
    """
    if not isinstance(lower, float) or not isinstance(upper, float) or not 0 <= lower <= upper <= 1:
        raise InvalidArgumentError(f"rrelu: lower and upper are floats, 0 <= lower <= upper <= 1; found {lower!r} and {upper!r}")
    return functional.rrelu(x, lower, upper, training)


@computes
def elu(x, alpha=1.0, name=None):
    return _entries.elu(x, alpha)


@computes
def celu(x, alpha=1.0, name=None):
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0) of each element.

    >>> print(F.celu(paddle.to_tensor([-1.0, 2.0])).numpy())
    [-0.63212055  2.        ]
    """
    return functional.celu(x, alpha)


@computes
def selu(x, scale=1.0507009873554804934193349852946, alpha=1.6732632423543772848170429916717, name=None):
    """scale * x above 0, and scale * alpha * (exp(x) - 1) elsewhere.

    >>> print(F.selu(paddle.to_tensor([-1.0, 1.0])).numpy())
    [-1.1113307  1.050701 ]
    """
    return scale * functional.elu(x, alpha)


@computes
def gelu(x, approximate=False, name=None):
    return _entries.gelu(x, approximate)


@computes
def softplus(x, beta=1, threshold=20, name=None):
    return functional.softplus(x, beta, threshold)


@computes
def softshrink(x, threshold=0.5, name=None):
    """x moved by `threshold` towards 0, and 0 where it is nearer.

    >>> F.softshrink(paddle.to_tensor([-1.0, 0.25, 2.0])).tolist()
    [-0.5, 0.0, 1.5]
    """
    return functional.softshrink(x, threshold)


@computes
def hardshrink(x, threshold=0.5, name=None):
    """x, but 0 where it is no further than `threshold` from 0.

    >>> F.hardshrink(paddle.to_tensor([-1.0, 0.25, 2.0])).tolist()
    [-1.0, 0.0, 2.0]
    """
    return functional.hardshrink(x, threshold)


@computes
def hardtanh(x, min=-1.0, max=1.0, name=None):
    """x, kept from `min` to `max`.

    >>> F.hardtanh(paddle.to_tensor([-2.0, 0.5])).tolist()
    [-1.0, 0.5]
    """
    return functional.hardtanh(x, min, max)


@computes
def hardsigmoid(x, slope=0.1666667, offset=0.5, name=None):
    return _entries.hard_sigmoid(x, slope, offset)


@computes
def thresholded_relu(x, threshold=1.0, name=None):
    """x where it is above `threshold`, and 0 elsewhere.

    >>> F.thresholded_relu(paddle.to_tensor([0.5, 2.0])).tolist()
    [0.0, 2.0]
    """
    return torch.where(x > threshold, x, torch.zeros_like(x))


@computes
def softmax(x, axis=-1, dtype=None, name=None):
    return _entries.softmax(_typed(x, dtype), axis=axis)


@computes
def log_softmax(x, axis=-1, dtype=None, name=None):
    return functional.log_softmax(_typed(x, dtype), axis)


@computes
def gumbel_softmax(x, temperature=1.0, hard=False, axis=-1, name=None):
    """A draw from the classes along `axis`, with the logits x, that takes gradients: near to one class at a low temperature, and just it where hard.

    >>> F.gumbel_softmax(paddle.to_tensor([[1.0, 2.0, 3.0]]), hard=True).sum().item()
    1.0
    """
    return functional.gumbel_softmax(x, temperature, hard, dim=axis)


@computes
def glu(x, axis=-1, name=None):
    """The first half along `axis` times the sigmoid of the second half.

    >>> F.glu(paddle.to_tensor([[4.0, 0.0]])).tolist()
    [[2.0]]
    """
    return functional.glu(x, axis)


@computes
def maxout(x, groups, axis=1, name=None):
    """The largest of each group of `groups` channels; channels are at `axis`.

    >>> F.maxout(paddle.arange(4, dtype="float32").reshape([1, 4, 1, 1]), groups=2).flatten().tolist()
    [1.0, 3.0]
    """
    axis %= x.dim()
    return x.reshape(*x.shape[:axis], x.shape[axis] // groups, groups, *x.shape[axis + 1 :]).amax(axis + 1)


@computes
def relu(x, name=None):
    return _entries.relu(x)


@computes
def relu6(x, name=None):
    return _entries.relu6(x)


@computes
def softsign(x, name=None):
    return _entries.softsign(x)


@computes
def silu(x, name=None):
    return _entries.swish(x)


@computes
def mish(x, name=None):
    """x * tanh(log(1 + exp(x))) of each element.

    >>> print(F.mish(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.         0.86509836]
    """
    return functional.mish(x)


@computes
def tanhshrink(x, name=None):
    """x - tanh(x) of each element.

    >>> print(F.tanhshrink(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.         0.23840582]
    """
    return _entries.tanh_shrink(x)


@computes
def tanh(x, name=None):
    return _entries.tanh(x)


@computes
def sigmoid(x, name=None):
    return _entries.sigmoid(x)


@computes
def log_sigmoid(x, name=None):
    return _entries.logsigmoid(x)


@computes
def hardswish(x, name=None):
    return functional.hardswish(x)


@computes
def swish(x, name=None):
    return _entries.swish(x)


relu_, tanh_, leaky_relu_ = changing(relu), changing(tanh), changing(leaky_relu)
hardtanh_, thresholded_relu_ = changing(hardtanh), changing(thresholded_relu)
_elu_in_place, _softmax_in_place = changing(elu), changing(softmax)


@on_tensors
def elu_(x, alpha=1.0, name=None):
    """elu in place: x, above 0 as it is, and alpha * (exp(x) - 1) elsewhere; alpha is 0 or more.

    >>> print(F.elu_(paddle.to_tensor([-1.0, 2.0])).numpy())
    [-0.63212055  2.        ]
    """
    if alpha < 0:
        raise InvalidArgumentError(f"elu_: alpha is 0 or more; found {alpha}; use elu")
    return _elu_in_place(x, alpha)


@on_tensors
def softmax_(x, axis=-1, dtype=None, name=None):
    """softmax in place; where dtype is another than the tensor's, a new tensor.

    >>> F.softmax_(paddle.to_tensor([1.0, 1.0])).tolist()
    [0.5, 0.5]
    """
    if dtype is not None and dtypes.to_torch(dtype) != x._torch.dtype:
        return softmax(x, axis, dtype)
    return _softmax_in_place(x, axis)
