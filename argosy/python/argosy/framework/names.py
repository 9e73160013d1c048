"""Names that are at home elsewhere."""

from argosy.device import CPUPlace, CUDAPinnedPlace, CUDAPlace
from argosy.dynamic.creation import to_tensor as to_variable
from argosy.dynamic.dtypes import get_default_dtype, set_default_dtype
from argosy.dynamic.gradients import grad, no_grad
from argosy.dynamic.tensor import Parameter
from argosy.fluid.framework import Program, seed
from argosy.fluid.param_attr import ParamAttr
from argosy.framework.io import save_state as save
from argosy.graph_mode import in_dynamic_mode

__all__ = [
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "to_variable",
    "get_default_dtype",
    "set_default_dtype",
    "grad",
    "no_grad",
    "Parameter",
    "Program",
    "seed",
    "ParamAttr",
    "in_dynamic_mode",
    "save",
]
