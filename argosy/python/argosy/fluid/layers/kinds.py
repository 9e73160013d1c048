"""Which element types layer functions take: what PaddlePaddle refuses while a program is built is refused here too, not by the operator that runs."""

import re

from argosy import _core
from argosy.errors import InvalidArgumentError

__all__ = ["check", "checked_arguments", "require_floats", "require_whole"]

_FLOATS = ("float32", "float64", "float16", "bfloat16")
_WHOLE = ("int64", "int32")
_OF_FLOATS = """
    accuracy acos asin atan batch_norm ceil conv2d conv2d_transpose cos cross_entropy dropout elu fc floor gelu hard_sigmoid hard_swish huber_loss
    kldiv_loss l2_normalize layer_norm leaky_relu log_loss logsigmoid mean mse_loss pool2d reciprocal relu relu6 round rsqrt sigmoid
    sigmoid_cross_entropy_with_logits sin smooth_l1 softmax softmax_with_cross_entropy softplus softsign sqrt square_error_cost swish tanh
    tanh_shrink
""".split()
_OF_WHOLE = "embedding embedding_v2 sparse_embedding one_hot one_hot_v2".split()
_SECOND = {"gather": "index", "gather_nd": "index", "nce": "label", "multiplex": "index"}  # the argument of whole numbers behind the first


def checked_arguments(function):
    """[(place, name, element types)] of the arguments of `function` whose element type is checked."""
    name = function.__name__
    if name in _SECOND:
        return [(1, _SECOND[name], _WHOLE)]
    kinds = _FLOATS if name in _OF_FLOATS else _WHOLE if name in _OF_WHOLE else None
    first = re.match(r"\((\w+)", getattr(function, "__text_signature__", None) or "")
    return [(0, first[1] if first else "input", kinds)] if kinds else []


def check(function, expected, args, kwargs):
    """Raises where a Variable among the arguments has another element type than `expected`, what checked_arguments() gave, says."""
    for place, name, kinds in expected:
        given = kwargs.get(name) if len(args) <= place else args[place]
        for one in given if isinstance(given, (list, tuple)) else (given,):
            _require(function, name, one, kinds)


def _require(function, argument, value, kinds):
    if isinstance(value, _core.Variable) and _core.dtype_name(value.dtype) not in kinds:
        raise InvalidArgumentError(
            f"{function}() argument '{argument}' must be {', '.join(kinds[:-1])} or {kinds[-1]}, not {_core.dtype_name(value.dtype)}: "
            f"variable '{value.name}' (cast it, or declare it so)"
        )


def require_floats(function, argument, value):
    """Raises where `value` is a Variable of whole numbers or truth values."""
    _require(function, argument, value, _FLOATS)


def require_whole(function, argument, value):
    """Raises where `value` is a Variable of anything but int64 or int32."""
    _require(function, argument, value, _WHOLE)
