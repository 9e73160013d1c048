"""Fleet-style distributed training on libtorch, in the dialect of PaddlePaddle's Fleet.

Names are found on first use: a script that only needs a part, such as a data generator in a pipe, loads only that part.
"""
from argosy import _lazy

_NAMES = {
    "ParamAttr": "fluid.param_attr",
    "CPUPlace": "fluid.core",
    "CUDAPlace": "fluid.core",
    "CUDAPinnedPlace": "fluid.core",
    "enable_static": "graph_mode",
    "disable_static": "graph_mode",
    "in_dynamic_mode": "graph_mode",
    "enable_dygraph": "graph_mode:disable_static",
    "disable_dygraph": "graph_mode:enable_static",
    "is_compiled_with_cuda": "fluid.framework",
    "dtype": "fluid.var_type:VarType",
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
_CREATION = "assign full zeros ones zeros_like ones_like full_like arange linspace uniform rand normal randn to_tensor create_parameter"
_NAMES.update((name, "tensor") for name in _TENSOR.split())
_NAMES.update((name, "creation") for name in _CREATION.split())
_NAMES.update((name, "dynamic.names") for name in (
    "Tensor Model summary DataParallel get_default_dtype set_default_dtype get_rng_state set_rng_state finfo iinfo set_printoptions bool uint8 "
    "int8 int16 int32 int64 float16 bfloat16 float32 float64").split())
_NAMES.update(save="framework.io", load="framework.io")
_MODULES = (
    "amp", "base", "callbacks", "dataset", "device", "distributed", "errors", "fluid", "framework", "io", "jit", "linalg", "metric", "nn",
    "optimizer", "reader", "regularizer", "static", "tensor", "utils", "version", "vision")

# Names that are in none of these are functions on tensors, which come with torch.
__getattr__, __dir__ = _lazy.names(__name__, _MODULES, _NAMES, further="dynamic.functions")
