"""Activations."""

from argosy import tensor as T
from argosy.fluid import layers
from argosy.nn.functional import both_graphs as F

__all__ = ["prelu", "celu", "selu", "mish", "glu", "hardshrink", "hardtanh", "softshrink", "tanhshrink", "thresholded_relu", "maxout", "gumbel_softmax"]


def prelu(x, weight, data_format="NCHW", name=None):
    single = len(weight.shape) == 1 and weight.shape[0] == 1
    if not single and data_format[1] == "C" and len(x.shape) > 2:
        weight = layers.reshape(weight, [1, -1] + [1] * (len(x.shape) - 2))
    return layers.relu(x) - layers.relu(-x) * weight


def celu(x, alpha=1.0, name=None):
    return layers.elu(x * (1 / alpha)) * alpha


def selu(x, scale=1.0507009873554804934193349852946, alpha=1.6732632423543772848170429916717, name=None):
    return layers.elu(x, alpha=alpha) * scale


def mish(x, name=None):
    return x * layers.tanh(layers.softplus(x))


def glu(x, axis=-1, name=None):
    kept, gate = layers.split(x, 2, dim=axis)
    return kept * layers.sigmoid(gate)


def hardshrink(x, threshold=0.5, name=None):
    return x * layers.cast(T.abs(x) > threshold, x.dtype)


def hardtanh(x, min=-1.0, max=1.0, name=None):
    return layers.clip(x, min=min, max=max)


def softshrink(x, threshold=0.5, name=None):
    return layers.relu(x - threshold) - layers.relu(-x - threshold)


def tanhshrink(x, name=None):
    return layers.tanh_shrink(x)


def thresholded_relu(x, threshold=1.0, name=None):
    return x * layers.cast(x > threshold, x.dtype)


def maxout(x, groups, axis=1, name=None):
    from argosy.building.shapes import unflatten

    axis %= len(x.shape)
    return T.max(unflatten(x, axis, [x.shape[axis] // groups, groups]), axis + 1)


def gumbel_softmax(x, temperature=1.0, hard=False, axis=-1, name=None):
    from argosy.building.reductions import _uniform_like

    noise = -T.log(-T.log(T.clip(_uniform_like(x), 1e-20, 1 - 1e-7)))
    soft = F.softmax((x + noise) * (1 / temperature), axis)
    if not hard:
        return soft
    largest = layers.cast(layers.equal(soft, T.max(soft, axis, True)), x.dtype)
    rest = largest - soft
    rest.stop_gradient = True
    return rest + soft
