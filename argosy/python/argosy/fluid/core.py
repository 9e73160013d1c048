"""Names that scripts take from fluid.core: places, tensors, scopes and the enumeration of types."""

from argosy import _core
from argosy.device import CPUPlace, CUDAPinnedPlace, CUDAPlace, is_compiled_with_cuda
from argosy.errors import EOFException
from argosy.errors import Error as EnforceNotMet
from argosy.fluid import tensor_methods as tensor_methods
from argosy.fluid.var_type import VarType
from argosy.inference.legacy import AnalysisConfig, PaddleBuf, PaddleDType, PaddlePredictor, PaddleTensor, ZeroCopyTensor, create_paddle_predictor

LoDTensor = Tensor = _core.LoDTensor
Scope = _core.Scope


class VarDesc:
    """Holds VarType, the numbers of types, as in Paddle.

    >>> fluid.core.VarDesc.VarType.FP32.value
    5
    """

    VarType = VarType


def get_cuda_device_count():
    """The number of GPUs that the libtorch of this process sees.

    >>> fluid.core.get_cuda_device_count() >= 0
    True
    """
    return _core.gpu_count()


__all__ = [
    "AnalysisConfig",
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "EOFException",
    "EnforceNotMet",
    "LoDTensor",
    "PaddleBuf",
    "PaddleDType",
    "PaddlePredictor",
    "PaddleTensor",
    "Scope",
    "Tensor",
    "VarDesc",
    "VarType",
    "ZeroCopyTensor",
    "create_paddle_predictor",
    "get_cuda_device_count",
    "is_compiled_with_cuda",
]
