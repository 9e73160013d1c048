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
    """max(x, 0) of each element, as a layer.

    >>> print(nn.ReLU()(paddle.to_tensor([-1.0, 2.0])).numpy())
    [0. 2.]
    """

    _function = staticmethod(F.relu)

    def __init__(self, name=None):
        super().__init__()


class ReLU6(_Activation):
    """min(max(x, 0), 6) of each element, as a layer.

    >>> print(nn.ReLU6()(paddle.to_tensor([-1.0, 9.0])).numpy())
    [0. 6.]
    """

    _function = staticmethod(F.relu6)

    def __init__(self, name=None):
        super().__init__()


class Sigmoid(_Activation):
    """1 / (1 + exp(-x)) of each element, as a layer.

    >>> print(nn.Sigmoid()(paddle.to_tensor([0.0, 2.0])).numpy())
    [0.5      0.880797]
    """

    _function = staticmethod(F.sigmoid)

    def __init__(self, name=None):
        super().__init__()


class LogSigmoid(_Activation):
    """log(1 / (1 + exp(-x))) of each element, as a layer.

    >>> print(nn.LogSigmoid()(paddle.to_tensor([0.0, 2.0])).numpy())
    [-0.6931472  -0.12692802]
    """

    _function = staticmethod(F.log_sigmoid)

    def __init__(self, name=None):
        super().__init__()


class Tanh(_Activation):
    """The hyperbolic tangent of each element, as a layer.

    >>> print(nn.Tanh()(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        0.7615942]
    """

    _function = staticmethod(F.tanh)

    def __init__(self, name=None):
        super().__init__()


class Tanhshrink(_Activation):
    """x - tanh(x) of each element, as a layer.

    >>> print(nn.Tanhshrink()(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.         0.23840582]
    """

    _function = staticmethod(F.tanhshrink)

    def __init__(self, name=None):
        super().__init__()


class Softsign(_Activation):
    """x / (1 + |x|) of each element, as a layer.

    >>> print(nn.Softsign()(paddle.to_tensor([-1.0, 3.0])).numpy())
    [-0.5   0.75]
    """

    _function = staticmethod(F.softsign)

    def __init__(self, name=None):
        super().__init__()


class Silu(_Activation):
    """x * sigmoid(x) of each element, as a layer.

    >>> print(nn.Silu()(paddle.to_tensor([0.0, 2.0])).numpy())
    [0.       1.761594]
    """

    _function = staticmethod(F.silu)

    def __init__(self, name=None):
        super().__init__()


class Swish(_Activation):
    """x * sigmoid(x) of each element, as a layer.

    >>> print(nn.Swish()(paddle.to_tensor([0.0, 2.0])).numpy())
    [0.       1.761594]
    """

    _function = staticmethod(F.swish)

    def __init__(self, name=None):
        super().__init__()


class Mish(_Activation):
    """x * tanh(log(1 + exp(x))) of each element, as a layer.

    >>> print(nn.Mish()(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.         0.86509836]
    """

    _function = staticmethod(F.mish)

    def __init__(self, name=None):
        super().__init__()


class Hardswish(_Activation):
    """x * min(max(x + 3, 0), 6) / 6 of each element, as a layer.

    >>> print(nn.Hardswish()(paddle.to_tensor([0.0, 3.0])).numpy())
    [0. 3.]
    """

    _function = staticmethod(F.hardswish)

    def __init__(self, name=None):
        super().__init__()


class Hardsigmoid(_Activation):
    """x / 6 + 0.5, kept from 0 to 1, as a layer.

    >>> print(nn.Hardsigmoid()(paddle.to_tensor([-4.0, 0.0])).numpy())
    [0.  0.5]
    """

    _function = staticmethod(F.hardsigmoid)

    def __init__(self, name=None):
        super().__init__()


class GELU(_Activation):
    """x times the share of a standard normal distribution that is below it; by a formula with tanh where approximate, as a layer.

    >>> print(nn.GELU()(paddle.to_tensor([-1.0, 1.0])).numpy())
    [-0.15865526  0.8413447 ]
    """

    _function = staticmethod(F.gelu)

    def __init__(self, approximate=False, name=None):
        super().__init__(approximate=approximate)


class LeakyReLU(_Activation):
    """x where it is above 0, and negative_slope * x elsewhere, as a layer.

    >>> print(nn.LeakyReLU(0.5)(paddle.to_tensor([-10.0, 2.0])).numpy())
    [-5.  2.]
    """

    _function = staticmethod(F.leaky_relu)

    def __init__(self, negative_slope=0.01, name=None):
        super().__init__(negative_slope=negative_slope)


class ELU(_Activation):
    """x where it is above 0, and alpha * (exp(x) - 1) elsewhere, as a layer.

    >>> print(nn.ELU()(paddle.to_tensor([-1.0, 2.0])).numpy())
    [-0.63212055  2.        ]
    """

    _function = staticmethod(F.elu)

    def __init__(self, alpha=1.0, name=None):
        super().__init__(alpha=alpha)


class CELU(_Activation):
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0) of each element, as a layer.

    >>> print(nn.CELU()(paddle.to_tensor([-1.0, 2.0])).numpy())
    [-0.63212055  2.        ]
    """

    _function = staticmethod(F.celu)

    def __init__(self, alpha=1.0, name=None):
        super().__init__(alpha=alpha)


class SELU(_Activation):
    """scale * x above 0, and scale * alpha * (exp(x) - 1) elsewhere, as a layer.

    >>> print(nn.SELU()(paddle.to_tensor([-1.0, 1.0])).numpy())
    [-1.1113307  1.050701 ]
    """

    _function = staticmethod(F.selu)

    def __init__(self, scale=1.0507009873554804934193349852946, alpha=1.6732632423543772848170429916717, name=None):
        super().__init__(scale=scale, alpha=alpha)


class Hardtanh(_Activation):
    """x, kept from `min` to `max`, as a layer.

    >>> print(nn.Hardtanh()(paddle.to_tensor([-2.0, 0.5])).numpy())
    [-1.   0.5]
    """

    _function = staticmethod(F.hardtanh)

    def __init__(self, min=-1.0, max=1.0, name=None):
        super().__init__(min=min, max=max)


class Hardshrink(_Activation):
    """x, but 0 where it is no further than `threshold` from 0, as a layer.

    >>> print(nn.Hardshrink()(paddle.to_tensor([0.25, 2.0])).numpy())
    [0. 2.]
    """

    _function = staticmethod(F.hardshrink)

    def __init__(self, threshold=0.5, name=None):
        super().__init__(threshold=threshold)


class Softshrink(_Activation):
    """x moved by `threshold` towards 0, and 0 where it is nearer, as a layer.

    >>> print(nn.Softshrink()(paddle.to_tensor([0.25, 2.0])).numpy())
    [0.  1.5]
    """

    _function = staticmethod(F.softshrink)

    def __init__(self, threshold=0.5, name=None):
        super().__init__(threshold=threshold)


class Softplus(_Activation):
    """log(1 + exp(beta * x)) / beta of each element, and x where beta * x is above threshold, as a layer.

    >>> print(nn.Softplus()(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.6931472 1.3132616]
    """

    _function = staticmethod(F.softplus)

    def __init__(self, beta=1, threshold=20, name=None):
        super().__init__(beta=beta, threshold=threshold)


class ThresholdedReLU(_Activation):
    """x where it is above `threshold`, and 0 elsewhere, as a layer.

    >>> print(nn.ThresholdedReLU()(paddle.to_tensor([0.5, 2.0])).numpy())
    [0. 2.]
    """

    _function = staticmethod(F.thresholded_relu)

    def __init__(self, threshold=1.0, name=None):
        super().__init__(threshold=threshold)


class Softmax(_Activation):
    """exp(x) by its sum along `axis`, as a layer.

    >>> print(nn.Softmax()(paddle.to_tensor([1.0, 3.0])).numpy())
    [0.11920291 0.880797  ]
    """

    _function = staticmethod(F.softmax)

    def __init__(self, axis=-1, name=None):
        super().__init__(axis=axis)


class LogSoftmax(_Activation):
    """The logarithm of softmax along `axis`, as a layer.

    >>> print(nn.LogSoftmax()(paddle.to_tensor([1.0, 1.0])).numpy())
    [-0.6931472 -0.6931472]
    """

    _function = staticmethod(F.log_softmax)

    def __init__(self, axis=-1, name=None):
        super().__init__(axis=axis)


class Maxout(_Activation):
    """The largest of each group of `groups` channels, as a layer; channels are at `axis`.

    >>> nn.Maxout(groups=2)(paddle.arange(4, dtype="float32").reshape([1, 4, 1, 1])).flatten().tolist()
    [1.0, 3.0]
    """

    _function = staticmethod(F.maxout)

    def __init__(self, groups, axis=1, name=None):
        super().__init__(groups=groups, axis=axis)


class GLU(_Activation):
    """The first half along `axis` times the sigmoid of the second half, as a layer.

    >>> print(nn.GLU()(paddle.to_tensor([4.0, 0.0])).numpy())
    [2.]
    """

    _function = staticmethod(F.glu)

    def __init__(self, axis=-1, name=None):
        super().__init__(axis=axis)


class PReLU(Layer):
    """x where it is above 0, and a trained slope times x elsewhere: num_parameters of them, one or one for each channel, which begin at `init`.

    >>> nn.PReLU()(paddle.to_tensor([-4.0, 2.0])).tolist()
    [-1.0, 2.0]
    """

    def __init__(self, num_parameters=1, init=0.25, weight_attr=None, data_format="NCHW", name=None):
        super().__init__()
        self._data_format = data_format
        self._weight = self.create_parameter([num_parameters], weight_attr, default_initializer=initializer.Constant(init))

    def forward(self, x):
        return F.prelu(x, self._weight, self._data_format)


class RReLU(Layer):
    """x where it is above 0, and a slope times x elsewhere: drawn between lower and upper while training, and their mean afterwards.

    >>> nn.RReLU(0.5, 0.5)(paddle.to_tensor([-1.0, 2.0])).tolist()
    [-0.5, 2.0]
    """

    def __init__(self, lower=1 / 8, upper=1 / 3, name=None):
        super().__init__()
        self._lower, self._upper = lower, upper

    def forward(self, x):
        return F.rrelu(x, self._lower, self._upper, self.training)

    def extra_repr(self):
        return f"lower={self._lower}, upper={self._upper}, training={self.training}, dtype={self._dtype}"


class Softmax2D(Layer):
    """softmax over the channels of images, [batch, channels, height, width] or without the batch, as a layer.

    >>> nn.Softmax2D()(paddle.zeros([1, 2, 1, 1])).flatten().tolist()
    [0.5, 0.5]
    """

    def __init__(self, name=None):
        super().__init__()

    def forward(self, x):
        if x.ndim not in (3, 4):
            raise InvalidArgumentError(f"Softmax2D: x has 3 or 4 axes; found shape {x.shape}")
        return F.softmax(x, -3)
