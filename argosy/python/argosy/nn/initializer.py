"""First values of parameters, under their 2.x names."""

import math
from collections.abc import Callable
from typing import Any

import numpy

from argosy import _core
from argosy.errors import InvalidArgumentError
from argosy.fluid import initializer as fluid
from argosy.fluid import param_attr
from argosy.fluid.initializer import Initializer

__all__ = [
    "Initializer",
    "Assign",
    "Constant",
    "KaimingNormal",
    "KaimingUniform",
    "Normal",
    "TruncatedNormal",
    "Uniform",
    "XavierNormal",
    "XavierUniform",
    "Bilinear",
    "Dirac",
    "Orthogonal",
    "calculate_gain",
    "set_global_initializer",
]


class Constant(fluid.ConstantInitializer):
    """One value everywhere.

    >>> weight = paddle.create_parameter([2], "float32", default_initializer=nn.initializer.Constant(3.0))
    >>> weight.tolist()
    [3.0, 3.0]
    """

    def __init__(self, value=0.0):
        super().__init__(value)


class Uniform(fluid.UniformInitializer):
    """Numbers drawn evenly from low to high.

    >>> paddle.create_parameter([2, 3], "float32", default_initializer=nn.initializer.Uniform(-0.1, 0.1)).shape
    [2, 3]
    """

    def __init__(self, low=-1.0, high=1.0, name=None):
        super().__init__(low, high)


class Normal(fluid.NormalInitializer):
    """Numbers drawn from a normal distribution.

    >>> paddle.create_parameter([2, 3], "float32", default_initializer=nn.initializer.Normal(0.0, 0.02)).shape
    [2, 3]
    """

    def __init__(self, mean=0.0, std=1.0, name=None):
        super().__init__(mean, std)


class TruncatedNormal(fluid.TruncatedNormalInitializer):
    """Numbers drawn from a normal distribution; those further than two deviations from the mean are drawn again.

    >>> paddle.create_parameter([2, 3], "float32", default_initializer=nn.initializer.TruncatedNormal(std=0.02)).shape
    [2, 3]
    """

    def __init__(self, mean=0.0, std=1.0, name=None):
        super().__init__(mean, std)


class XavierUniform(fluid.XavierInitializer):
    """Numbers drawn evenly within sqrt(6 / (fan_in + fan_out)) of 0; both are those of the shape unless given.

    >>> paddle.create_parameter([2, 3], "float32", default_initializer=nn.initializer.XavierUniform()).shape
    [2, 3]
    """

    def __init__(self, fan_in=None, fan_out=None, name=None):
        super().__init__(True, fan_in, fan_out)


class XavierNormal(fluid.XavierInitializer):
    """Numbers drawn from a normal distribution with deviation sqrt(2 / (fan_in + fan_out)); both are those of the shape unless given.

    >>> paddle.create_parameter([2, 3], "float32", default_initializer=nn.initializer.XavierNormal()).shape
    [2, 3]
    """

    def __init__(self, fan_in=None, fan_out=None, name=None):
        super().__init__(False, fan_in, fan_out)


class KaimingUniform(fluid.MSRAInitializer):
    """Numbers drawn evenly within calculate_gain(nonlinearity, negative_slope) * sqrt(3 / fan_in) of 0; fan_in is that of the shape unless given.

    >>> paddle.create_parameter([2, 3], "float32", default_initializer=nn.initializer.KaimingUniform()).shape
    [2, 3]
    """

    def __init__(self, fan_in=None, negative_slope=0.0, nonlinearity="relu"):
        self._gain = calculate_gain(nonlinearity, negative_slope)
        super().__init__(True, fan_in)


class KaimingNormal(fluid.MSRAInitializer):
    """Numbers drawn from a normal distribution with deviation calculate_gain(nonlinearity, negative_slope) / sqrt(fan_in); fan_in is that of the shape
    unless given.

    >>> paddle.create_parameter([2, 3], "float32", default_initializer=nn.initializer.KaimingNormal()).shape
    [2, 3]
    """

    def __init__(self, fan_in=None, negative_slope=0.0, nonlinearity="relu"):
        self._gain = calculate_gain(nonlinearity, negative_slope)
        super().__init__(False, fan_in)


class Assign(fluid.NumpyArrayInitializer):
    """Given values: an array or nested lists.

    >>> paddle.create_parameter([2], "float32", default_initializer=nn.initializer.Assign([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """

    def __init__(self, value, name=None):
        super().__init__(numpy.asarray(value))


class _Filling(Initializer):
    """Values that depend on the whole shape: fill() makes them. A startup program gets them as they are."""

    _values: Callable[[list[int]], Any]

    def __init__(self):
        super().__init__(_core.values_initializer([]))

    def fill(self, empty):
        """A torch tensor with values, in the place of `empty`."""
        import torch  # a static program does without

        return torch.as_tensor(self._values(list(empty.shape)), dtype=empty.dtype)

    def _refuse(self, shape, wanted):
        raise InvalidArgumentError(f"{type(self).__name__} is for parameters {wanted}; found shape {shape}")


class Dirac(_Filling):
    """Convolutions that hand on their input: 1 in the middle of filter i for channel i, in each of `groups`.

    >>> layer = nn.Conv1D(1, 1, 3, weight_attr=paddle.ParamAttr(initializer=nn.initializer.Dirac()))
    >>> layer.weight.tolist()
    [[[0.0, 1.0, 0.0]]]
    """

    def __init__(self, groups=1, name=None):
        if not isinstance(groups, int) or groups <= 0:
            raise InvalidArgumentError(f"Dirac: groups is a whole number above 0; found {groups!r}")
        super().__init__()
        self._groups = groups

    def _values(self, shape):
        if len(shape) not in (3, 4, 5) or shape[0] % self._groups:
            self._refuse(shape, f"of 3, 4 or 5 axes, the first of which {self._groups} groups share")
        values = numpy.zeros(shape, "float32")
        rows = shape[0] // self._groups
        middle = tuple(size // 2 for size in shape[2:])
        for i in range(self._groups * rows):
            if i % rows < shape[1]:
                values[(i, i % rows, *middle)] = 1
        return values


class Orthogonal(_Filling):
    """Rows, or columns where there are fewer of them, of length `gain` that stand at right angles, drawn from all such.

    >>> weight = paddle.create_parameter([2, 2], "float32", default_initializer=nn.initializer.Orthogonal())
    >>> bool(paddle.allclose(weight @ weight.t(), paddle.eye(2), atol=1e-6))
    True
    """

    def __init__(self, gain=1.0, name=None):
        if not isinstance(gain, (int, float)):
            raise InvalidArgumentError(f"Orthogonal: gain is a number; found {gain!r}")
        super().__init__()
        self._gain = gain

    def _values(self, shape):
        import torch

        if len(shape) < 2:
            self._refuse(shape, "of 2 axes or more")
        sides = shape[0], math.prod(shape[1:])
        found, corner = torch.linalg.qr(torch.randn(max(sides), min(sides)))
        found = found * corner.diagonal().sign()  # so that every rotation is as likely
        return self._gain * (found.t() if sides[0] < sides[1] else found).reshape(shape)


class Bilinear(_Filling):
    """Transposed convolutions that enlarge images, as 2.6.2 makes them: down the rows the weight falls between pixels too.

    >>> layer = nn.Conv2DTranspose(1, 1, 4, stride=2, padding=1, weight_attr=paddle.ParamAttr(initializer=nn.initializer.Bilinear()))
    >>> layer(paddle.ones([1, 1, 3, 3])).shape
    [1, 1, 6, 6]
    """

    def _values(self, shape):
        if len(shape) != 4 or shape[2] != shape[3]:
            self._refuse(shape, "of 4 axes, the last two of one size")
        size = shape[3]
        reach = math.ceil(size / 2)
        centre = (2 * reach - 1 - reach % 2) / (2 * reach)
        place = numpy.arange(math.prod(shape))
        across, down = place % size, place / size % size
        return ((1 - abs(across / reach - centre)) * (1 - abs(down / reach - centre))).reshape(shape).astype("float32")


_GAINS = {
    "tanh": 5 / 3,
    "relu": math.sqrt(2),
    "selu": 3 / 4,
    "sigmoid": 1,
    "linear": 1,
    **{f"conv{axes}d{kind}": 1 for axes in (1, 2, 3) for kind in ("", "_transpose")},
}


def calculate_gain(nonlinearity, param=None):
    """What first values are multiplied by before a function; param is the slope of leaky_relu.

    >>> nn.initializer.calculate_gain("tanh") * 3
    5.0
    """
    if param is not None and not isinstance(param, (bool, int, float)):
        raise InvalidArgumentError(f"calculate_gain: param is a number; found {type(param).__name__}")
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else float(param)) ** 2))
    if nonlinearity not in _GAINS:
        raise InvalidArgumentError(f"calculate_gain: nonlinearity is one of {', '.join(sorted([*_GAINS, 'leaky_relu']))}; found {nonlinearity!r}")
    return _GAINS[nonlinearity]


def set_global_initializer(weight_init, bias_init=None):
    """How layers begin from now on, unless an attribute has an initializer; None is each layer's own way again.

    >>> nn.initializer.set_global_initializer(nn.initializer.Constant(2.0))
    >>> nn.Linear(1, 2).weight.tolist()
    [[2.0, 2.0]]
    >>> nn.initializer.set_global_initializer(None)
    """
    for name, given in (("weight_init", weight_init), ("bias_init", bias_init)):
        if given is not None and not isinstance(given, Initializer):
            raise InvalidArgumentError(f"set_global_initializer: {name} is an initializer or None; found {type(given).__name__}")
    param_attr.use(weight_init, bias_init)
