"""First values of parameters."""
import numpy

from argosy import _core
from argosy._core import Initializer
from argosy.errors import InvalidArgumentError, UnimplementedError

__all__ = [
    "Initializer", "Constant", "Uniform", "Normal", "TruncatedNormal", "Xavier", "MSRA", "ConstantInitializer",
    "UniformInitializer", "NormalInitializer", "TruncatedNormalInitializer", "XavierInitializer", "MSRAInitializer",
    "NumpyArrayInitializer",
]


class ConstantInitializer(Initializer):
    def __init__(self, value=0.0, force_cpu=False):
        super().__init__(_core.constant_initializer(value))


class UniformInitializer(Initializer):
    def __init__(self, low=-1.0, high=1.0, seed=0, diag_num=0, diag_step=0, diag_val=1.0):
        if diag_num or diag_step:
            raise UnimplementedError("Uniform: diag_num and diag_step are not there; use NumpyArrayInitializer")
        super().__init__(_core.uniform_initializer(low, high, seed))


class NormalInitializer(Initializer):
    def __init__(self, loc=0.0, scale=1.0, seed=0):
        super().__init__(_core.normal_initializer(loc, scale, seed))


class TruncatedNormalInitializer(Initializer):
    """A normal distribution without what is further than two deviations from the mean."""

    def __init__(self, loc=0.0, scale=1.0, seed=0):
        super().__init__(_core.truncated_normal_initializer(loc, scale, seed))


class XavierInitializer(Initializer):
    def __init__(self, uniform=True, fan_in=None, fan_out=None, seed=0):
        super().__init__(_core.xavier_initializer(uniform, fan_in or 0, fan_out or 0, seed))


class MSRAInitializer(Initializer):
    def __init__(self, uniform=True, fan_in=None, seed=0):
        super().__init__(_core.msra_initializer(uniform, fan_in or 0, seed))


class NumpyArrayInitializer(Initializer):
    """The values of an array, whose shape must have as many elements as the parameter's."""

    def __init__(self, value):
        if not isinstance(value, numpy.ndarray):
            raise InvalidArgumentError(f"NumpyArrayInitializer takes a numpy array; found {type(value).__name__}")
        super().__init__(_core.values_initializer(value.astype("float32").ravel()))


Constant = ConstantInitializer
Uniform = UniformInitializer
Normal = NormalInitializer
TruncatedNormal = TruncatedNormalInitializer
Xavier = XavierInitializer
MSRA = MSRAInitializer
