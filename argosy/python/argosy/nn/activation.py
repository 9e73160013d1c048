"""Activations as layers: each keeps the arguments of the function of paddle.nn.functional that it is."""
from collections.abc import Callable
from typing import Any

from argosy.dynamic import functional as F
from argosy.errors import InvalidArgumentError
from argosy.nn import initializer
from argosy.nn.layer import Layer


class _Activation(Layer):
    _function: Callable[..., Any]

    def __init__(self, **arguments):
        super().__init__()
        self._arguments = arguments

    def forward(self, x):
        return self._function(x, **self._arguments)

    def extra_repr(self):
        return ", ".join(f"{key}={value}" for key, value in self._arguments.items())


class ReLU(_Activation):
    _function = staticmethod(F.relu)

    def __init__(self, name=None):
        super().__init__()


class ReLU6(_Activation):
    _function = staticmethod(F.relu6)

    def __init__(self, name=None):
        super().__init__()


class Sigmoid(_Activation):
    _function = staticmethod(F.sigmoid)

    def __init__(self, name=None):
        super().__init__()


class LogSigmoid(_Activation):
    _function = staticmethod(F.log_sigmoid)

    def __init__(self, name=None):
        super().__init__()


class Tanh(_Activation):
    _function = staticmethod(F.tanh)

    def __init__(self, name=None):
        super().__init__()


class Tanhshrink(_Activation):
    _function = staticmethod(F.tanhshrink)

    def __init__(self, name=None):
        super().__init__()


class Softsign(_Activation):
    _function = staticmethod(F.softsign)

    def __init__(self, name=None):
        super().__init__()


class Silu(_Activation):
    _function = staticmethod(F.silu)

    def __init__(self, name=None):
        super().__init__()


class Swish(_Activation):
    _function = staticmethod(F.swish)

    def __init__(self, name=None):
        super().__init__()


class Mish(_Activation):
    _function = staticmethod(F.mish)

    def __init__(self, name=None):
        super().__init__()


class Hardswish(_Activation):
    _function = staticmethod(F.hardswish)

    def __init__(self, name=None):
        super().__init__()


class Hardsigmoid(_Activation):
    _function = staticmethod(F.hardsigmoid)

    def __init__(self, name=None):
        super().__init__()


class GELU(_Activation):
    _function = staticmethod(F.gelu)

    def __init__(self, approximate=False, name=None):
        super().__init__(approximate=approximate)


class LeakyReLU(_Activation):
    _function = staticmethod(F.leaky_relu)

    def __init__(self, negative_slope=0.01, name=None):
        super().__init__(negative_slope=negative_slope)


class ELU(_Activation):
    _function = staticmethod(F.elu)

    def __init__(self, alpha=1.0, name=None):
        super().__init__(alpha=alpha)


class CELU(_Activation):
    _function = staticmethod(F.celu)

    def __init__(self, alpha=1.0, name=None):
        super().__init__(alpha=alpha)


class SELU(_Activation):
    _function = staticmethod(F.selu)

    def __init__(self, scale=1.0507009873554804934193349852946, alpha=1.6732632423543772848170429916717, name=None):
        super().__init__(scale=scale, alpha=alpha)


class Hardtanh(_Activation):
    _function = staticmethod(F.hardtanh)

    def __init__(self, min=-1.0, max=1.0, name=None):
        super().__init__(min=min, max=max)


class Hardshrink(_Activation):
    _function = staticmethod(F.hardshrink)

    def __init__(self, threshold=0.5, name=None):
        super().__init__(threshold=threshold)


class Softshrink(_Activation):
    _function = staticmethod(F.softshrink)

    def __init__(self, threshold=0.5, name=None):
        super().__init__(threshold=threshold)


class Softplus(_Activation):
    _function = staticmethod(F.softplus)

    def __init__(self, beta=1, threshold=20, name=None):
        super().__init__(beta=beta, threshold=threshold)


class ThresholdedReLU(_Activation):
    _function = staticmethod(F.thresholded_relu)

    def __init__(self, threshold=1.0, name=None):
        super().__init__(threshold=threshold)


class Softmax(_Activation):
    _function = staticmethod(F.softmax)

    def __init__(self, axis=-1, name=None):
        super().__init__(axis=axis)


class LogSoftmax(_Activation):
    _function = staticmethod(F.log_softmax)

    def __init__(self, axis=-1, name=None):
        super().__init__(axis=axis)


class Maxout(_Activation):
    _function = staticmethod(F.maxout)

    def __init__(self, groups, axis=1, name=None):
        super().__init__(groups=groups, axis=axis)


class GLU(_Activation):
    _function = staticmethod(F.glu)

    def __init__(self, axis=-1, name=None):
        super().__init__(axis=axis)


class PReLU(Layer):
    """Slopes for what is below 0 that are trained: one, or one for each channel."""

    def __init__(self, num_parameters=1, init=0.25, weight_attr=None, data_format="NCHW", name=None):
        super().__init__()
        self._data_format = data_format
        self._weight = self.create_parameter([num_parameters], weight_attr, default_initializer=initializer.Constant(init))

    def forward(self, x):
        return F.prelu(x, self._weight, self._data_format)


class RReLU(Layer):
    """Slopes below 0 are drawn between lower and upper while training, and their mean afterwards."""

    def __init__(self, lower=1 / 8, upper=1 / 3, name=None):
        super().__init__()
        self._lower, self._upper = lower, upper

    def forward(self, x):
        return F.rrelu(x, self._lower, self._upper, self.training)

    def extra_repr(self):
        return f"lower={self._lower}, upper={self._upper}, training={self.training}, dtype={self._dtype}"


class Softmax2D(Layer):
    """softmax over the channels of images, [batch, channels, height, width] or without the batch."""

    def __init__(self, name=None):
        super().__init__()

    def forward(self, x):
        if x.ndim not in (3, 4):
            raise InvalidArgumentError(f"Softmax2D: x has 3 or 4 axes; found shape {x.shape}")
        return F.softmax(x, -3)
