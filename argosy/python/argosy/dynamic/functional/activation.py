"""Activations."""
import torch
from torch.nn import functional

from argosy.dynamic import dtypes
from argosy.dynamic.calls import computes, made_of, same_names
from argosy.dynamic.in_place import changing
from argosy.errors import InvalidArgumentError

FUNCTIONS = same_names(functional, "relu relu6 softsign silu mish tanhshrink tanh sigmoid")
FUNCTIONS["log_sigmoid"] = made_of(functional.logsigmoid, "log_sigmoid")
FUNCTIONS["hardswish"] = made_of(functional.hardswish, "hardswish")
FUNCTIONS["swish"] = made_of(functional.silu, "swish")


def _public(function):
    FUNCTIONS[function.__name__] = computes(function)
    return function


def _typed(x, dtype):
    return x if dtype is None else x.to(dtypes.to_torch(dtype))


@_public
def leaky_relu(x, negative_slope=0.01):
    return functional.leaky_relu(x, negative_slope)


@_public
def prelu(x, weight, data_format="NCHW"):
    """One slope, or one for each channel."""
    if data_format[1] != "C" and weight.numel() > 1:
        return torch.where(x >= 0, x, x * weight)
    return functional.prelu(x, weight.reshape(-1))


@_public
def rrelu(x, lower=1 / 8, upper=1 / 3, training=True):
    """Slopes below 0 are drawn between lower and upper while training, and their mean afterwards."""
    if not isinstance(lower, float) or not isinstance(upper, float) or not 0 <= lower <= upper <= 1:
        raise InvalidArgumentError(f"rrelu: lower and upper are floats, 0 <= lower <= upper <= 1; found {lower!r} and {upper!r}")
    return functional.rrelu(x, lower, upper, training)


@_public
def elu(x, alpha=1.0):
    return functional.elu(x, alpha)


@_public
def celu(x, alpha=1.0):
    return functional.celu(x, alpha)


@_public
def selu(x, scale=1.0507009873554804934193349852946, alpha=1.6732632423543772848170429916717):
    return scale * torch.where(x > 0, x, alpha * torch.expm1(x))


@_public
def gelu(x, approximate=False):
    return functional.gelu(x, approximate="tanh" if approximate else "none")


@_public
def softplus(x, beta=1, threshold=20):
    return functional.softplus(x, beta, threshold)


@_public
def softshrink(x, threshold=0.5):
    return functional.softshrink(x, threshold)


@_public
def hardshrink(x, threshold=0.5):
    return functional.hardshrink(x, threshold)


@_public
def hardtanh(x, min=-1.0, max=1.0):
    return functional.hardtanh(x, min, max)


@_public
def hardsigmoid(x, slope=0.1666667, offset=0.5):
    return torch.clamp(x * slope + offset, 0, 1)


@_public
def thresholded_relu(x, threshold=1.0):
    return torch.where(x > threshold, x, torch.zeros_like(x))


@_public
def softmax(x, axis=-1, dtype=None):
    return functional.softmax(_typed(x, dtype), axis)


@_public
def log_softmax(x, axis=-1, dtype=None):
    return functional.log_softmax(_typed(x, dtype), axis)


@_public
def gumbel_softmax(x, temperature=1.0, hard=False, axis=-1):
    return functional.gumbel_softmax(x, temperature, hard, dim=axis)


@_public
def glu(x, axis=-1):
    return functional.glu(x, axis)


@_public
def maxout(x, groups, axis=1):
    """The largest of each group of channels."""
    axis %= x.dim()
    return x.reshape(*x.shape[:axis], x.shape[axis] // groups, groups, *x.shape[axis + 1:]).amax(axis + 1)


for _name in ("hardtanh", "leaky_relu", "relu", "tanh", "thresholded_relu"):
    FUNCTIONS[_name + "_"] = changing(FUNCTIONS[_name], _name + "_")


def elu_(x, alpha=1.0, name=None):
    """elu in place."""
    if alpha < 0:
        raise InvalidArgumentError(f"elu_: alpha is 0 or more; found {alpha}; use elu")
    return _elu_in_place(x, alpha)


def softmax_(x, axis=-1, dtype=None, name=None):
    """softmax in place; where dtype is another than the tensor's, a new tensor."""
    if dtype is not None and dtypes.to_torch(dtype) != x._torch.dtype:
        return FUNCTIONS["softmax"](x, axis, dtype)
    return _softmax_in_place(x, axis)


_elu_in_place = changing(FUNCTIONS["elu"], "elu_")
_softmax_in_place = changing(FUNCTIONS["softmax"], "softmax_")
FUNCTIONS.update(elu_=elu_, softmax_=softmax_)
