"""First values of parameters, under their 2.x names."""
import numpy

from argosy.errors import InvalidArgumentError
from argosy.fluid import initializer as fluid
from argosy.fluid.initializer import Initializer

__all__ = ["Initializer", "Assign", "Constant", "KaimingNormal", "KaimingUniform", "Normal", "TruncatedNormal", "Uniform", "XavierNormal",
           "XavierUniform"]


class Constant(fluid.ConstantInitializer):
    def __init__(self, value=0.0):
        super().__init__(value)


class Uniform(fluid.UniformInitializer):
    def __init__(self, low=-1.0, high=1.0, name=None):
        super().__init__(low, high)


class Normal(fluid.NormalInitializer):
    def __init__(self, mean=0.0, std=1.0, name=None):
        super().__init__(mean, std)


class TruncatedNormal(fluid.TruncatedNormalInitializer):
    def __init__(self, mean=0.0, std=1.0, name=None):
        super().__init__(mean, std)


class XavierUniform(fluid.XavierInitializer):
    def __init__(self, fan_in=None, fan_out=None, name=None):
        super().__init__(True, fan_in, fan_out)


class XavierNormal(fluid.XavierInitializer):
    def __init__(self, fan_in=None, fan_out=None, name=None):
        super().__init__(False, fan_in, fan_out)


def _check_relu(negative_slope, nonlinearity):
    if negative_slope or nonlinearity != "relu":
        raise InvalidArgumentError(f"the Kaiming initializers are for relu; found {nonlinearity!r} with negative_slope {negative_slope}")


class KaimingUniform(fluid.MSRAInitializer):
    def __init__(self, fan_in=None, negative_slope=0.0, nonlinearity="relu"):
        _check_relu(negative_slope, nonlinearity)
        super().__init__(True, fan_in)


class KaimingNormal(fluid.MSRAInitializer):
    def __init__(self, fan_in=None, negative_slope=0.0, nonlinearity="relu"):
        _check_relu(negative_slope, nonlinearity)
        super().__init__(False, fan_in)


class Assign(fluid.NumpyArrayInitializer):
    """Given values: an array or nested lists."""

    def __init__(self, value, name=None):
        super().__init__(numpy.asarray(value))
