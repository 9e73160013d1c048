"""paddle.framework: saving and loading, and names that scripts take from here."""
from argosy import _lazy

_NAMES = {
    "save": "io:save_state", "load": "io:load", "seed": "names", "ParamAttr": "names", "CPUPlace": "names", "CUDAPlace": "names",
    "CUDAPinnedPlace": "names", "in_dynamic_mode": "names", "get_default_dtype": "names", "set_default_dtype": "names", "no_grad": "names",
    "grad": "names", "Parameter": "names", "Program": "names", "to_variable": "names",
}

__getattr__, __dir__ = _lazy.names(__name__, ("io",), _NAMES)
