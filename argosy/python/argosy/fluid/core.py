"""Names that scripts take from fluid.core: places, tensors, scopes and the enumeration of types."""
from argosy import _core
from argosy.device import CPUPlace, CUDAPinnedPlace, CUDAPlace, is_compiled_with_cuda
from argosy.errors import EOFException
from argosy.errors import Error as EnforceNotMet
from argosy.fluid.var_type import VarType

LoDTensor = Tensor = _core.LoDTensor
Scope = _core.Scope


class VarDesc:
    """Holds VarType, as in Paddle."""

    VarType = VarType


def get_cuda_device_count():
    return _core.gpu_count()


__all__ = ["CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "EOFException", "EnforceNotMet", "LoDTensor", "Scope", "Tensor", "VarDesc", "VarType",
           "get_cuda_device_count", "is_compiled_with_cuda"]
