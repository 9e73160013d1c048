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
_TENSOR = (
    "abs add add_n all any argmax argmin argsort bmm cast ceil chunk clip concat cos cumsum divide dot equal erf exp "
    "expand_as flatten flip floor floor_divide gather gather_nd greater_equal greater_than increment index_select is_tensor "
    "less_equal less_than log logical_and logical_not logical_or logical_xor matmul max maximum mean min minimum mm mod "
    "multiply neg nonzero not_equal numel pow prod reciprocal remainder reshape round rsqrt scale scatter shape sign sin "
    "slice sort split sqrt square squeeze stack subtract sum t tanh tile topk transpose unbind unsqueeze unstack where")
_CREATION = "assign full zeros ones zeros_like ones_like full_like arange linspace uniform rand normal randn to_tensor"
_NAMES.update((name, "tensor") for name in _TENSOR.split())
_NAMES.update((name, "creation") for name in _CREATION.split())
_MODULES = ("base", "utils", "fluid", "static", "optimizer", "regularizer", "device", "errors", "nn", "tensor", "distributed", "reader", "dataset")

__getattr__, __dir__ = _lazy.names(__name__, _MODULES, _NAMES)
