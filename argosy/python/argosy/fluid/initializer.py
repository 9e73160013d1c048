"""First values of parameters."""

import numpy

from argosy import _core
from argosy._core import Initializer
from argosy.errors import InvalidArgumentError, UnimplementedError

__all__ = [
    "Initializer",
    "Constant",
    "Uniform",
    "Normal",
    "TruncatedNormal",
    "Xavier",
    "MSRA",
    "ConstantInitializer",
    "UniformInitializer",
    "NormalInitializer",
    "TruncatedNormalInitializer",
    "XavierInitializer",
    "MSRAInitializer",
    "NumpyArrayInitializer",
]


class ConstantInitializer(Initializer):
    """One value everywhere.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 2]), 1, param_attr=fluid.initializer.Constant(1.0))
    """

    def __init__(self, value=0.0, force_cpu=False):
        super().__init__(_core.constant_initializer(value))


class UniformInitializer(Initializer):
    """Numbers drawn evenly from low to high; seed 0 is the program's. Diagonals of other values are not there.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 2]), 1, param_attr=fluid.initializer.Uniform(-0.1, 0.1))
    """

    def __init__(self, low=-1.0, high=1.0, seed=0, diag_num=0, diag_step=0, diag_val=1.0):
        if diag_num or diag_step:
            raise UnimplementedError("Uniform: diag_num and diag_step are not there; use NumpyArrayInitializer")
        super().__init__(_core.uniform_initializer(low, high, seed))


class NormalInitializer(Initializer):
    """Numbers drawn from a normal distribution with mean loc and deviation scale; seed 0 is the program's.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 2]), 1, param_attr=fluid.initializer.Normal(0.0, 0.02))
    """

    def __init__(self, loc=0.0, scale=1.0, seed=0):
        super().__init__(_core.normal_initializer(loc, scale, seed))


class TruncatedNormalInitializer(Initializer):
    """A normal distribution without what is further than two deviations from the mean; seed 0 is the program's.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 2]), 1, param_attr=fluid.initializer.TruncatedNormal(0.0, 0.02))
    """

    def __init__(self, loc=0.0, scale=1.0, seed=0):
        super().__init__(_core.truncated_normal_initializer(loc, scale, seed))


class XavierInitializer(Initializer):
    """Within sqrt(6 / (fan_in + fan_out)) of 0, evenly, or a normal distribution of the same spread; fans are those of the shape unless given.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 2]), 1, param_attr=fluid.initializer.Xavier(uniform=False))
    """

    def __init__(self, uniform=True, fan_in=None, fan_out=None, seed=0):
        super().__init__(_core.xavier_initializer(uniform, fan_in or 0, fan_out or 0, seed))


class MSRAInitializer(Initializer):
    """Within sqrt(6 / fan_in) of 0, evenly, or a normal distribution of the same spread; fan_in is that of the shape unless given.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 2]), 1, param_attr=fluid.initializer.MSRA(uniform=False))
    """

    _gain = 0.0  # what the spread is multiplied by instead of sqrt(2)

    def __init__(self, uniform=True, fan_in=None, seed=0):
        super().__init__(_core.msra_initializer(uniform, fan_in or 0, seed, self._gain))


class NumpyArrayInitializer(Initializer):
    """The values of an array, whose shape must have as many elements as the parameter's.

    >>> start = fluid.initializer.NumpyArrayInitializer(np.ones([2, 1], "float32"))
    >>> y = fluid.layers.fc(fluid.data("x", [None, 2]), 1, param_attr=start)
    """

    def __init__(self, value):
        if not isinstance(value, numpy.ndarray):
            raise InvalidArgumentError(f"NumpyArrayInitializer takes a numpy array; found {type(value).__name__}")
        super().__init__(_core.values_initializer(value.astype("float32").ravel()))  # pyright: ignore[reportArgumentType]


Constant = ConstantInitializer
Uniform = UniformInitializer
Normal = NormalInitializer
TruncatedNormal = TruncatedNormalInitializer
Xavier = XavierInitializer
MSRA = MSRAInitializer
