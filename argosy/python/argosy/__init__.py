"""Fleet-style distributed training on libtorch, in the dialect of PaddlePaddle's Fleet.

Names are found on first use: a script that only needs a part, such as a data generator in a pipe, loads only that part.
"""
from argosy import _lazy

_NAMES = {
    "ParamAttr": "fluid.param_attr",
    "CPUPlace": "fluid.core",
    "CUDAPlace": "fluid.core",
    "CUDAPinnedPlace": "fluid.core",
    "enable_static": "fluid.framework",
    "disable_static": "fluid.framework",
    "in_dynamic_mode": "fluid.framework",
    "is_compiled_with_cuda": "fluid.framework",
    "set_device": "device",
    "get_device": "device",
    "seed": "fluid.framework",
    "batch": "_batch",
    "__version__": "version:version",
}
_MODULES = ("fluid", "static", "optimizer", "regularizer", "device", "errors", "nn", "tensor", "distributed", "reader", "dataset", "io")

__getattr__, __dir__ = _lazy.names(__name__, _MODULES, _NAMES)
