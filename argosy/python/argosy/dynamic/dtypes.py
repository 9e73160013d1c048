"""Element types: Paddle's, NumPy's and torch's names for them."""

from typing import Any

import numpy
import torch

from argosy.errors import InvalidArgumentError
from argosy.fluid.var_type import VarType

__all__ = ["to_torch", "from_torch", "name_of", "get_default_dtype", "set_default_dtype", "default", "TYPES"]

_PAIRS = {
    "bool": (VarType.BOOL, torch.bool),
    "uint8": (VarType.UINT8, torch.uint8),
    "int8": (VarType.INT8, torch.int8),
    "int16": (VarType.INT16, torch.int16),
    "int32": (VarType.INT32, torch.int32),
    "int64": (VarType.INT64, torch.int64),
    "float16": (VarType.FP16, torch.float16),
    "bfloat16": (VarType.BF16, torch.bfloat16),
    "float32": (VarType.FP32, torch.float32),
    "float64": (VarType.FP64, torch.float64),
}
TYPES = {name: pair[0] for name, pair in _PAIRS.items()}  # paddle.float32 and the others
_TORCH = {key: pair[1] for name, pair in _PAIRS.items() for key in (name, pair[0])}
_PADDLE = {pair[1]: pair[0] for pair in _PAIRS.values()}
_NAMES = {pair[1]: name for name, pair in _PAIRS.items()}
_state = {"default": torch.float32}


def to_torch(dtype: Any) -> torch.dtype:
    """torch's type for a name, a paddle.float32, a NumPy type or one of its own."""
    if isinstance(dtype, torch.dtype):
        return dtype
    if isinstance(dtype, (str, VarType)) and dtype in _TORCH:
        return _TORCH[dtype]
    if dtype in (float, int, bool):
        return {float: _state["default"], int: torch.int64, bool: torch.bool}[dtype]
    try:
        return _TORCH[numpy.dtype(dtype).name]  # pyright: ignore[reportCallIssue, reportArgumentType]
    except (KeyError, TypeError):
        raise InvalidArgumentError(f"{dtype!r} is not an element type of tensors; those are {', '.join(_PAIRS)}") from None


def from_torch(dtype):
    """The VarType of a torch type. Types that Paddle's wire format does not have are an error."""
    if dtype not in _PADDLE:
        raise InvalidArgumentError(f"{dtype} has no counterpart among {', '.join(_PAIRS)}")
    return _PADDLE[dtype]


def name_of(dtype):
    return _NAMES.get(dtype, str(dtype).removeprefix("torch."))


def default():
    """What floats without a type become."""
    return _state["default"]


def get_default_dtype():
    """The name of the type of floats that are made without one: float32, unless set_default_dtype has said otherwise.

    >>> paddle.get_default_dtype()
    'float32'
    """
    return name_of(_state["default"])


def set_default_dtype(d):
    """What floats without a type become from now on: float16, bfloat16, float32 or float64.

    >>> paddle.set_default_dtype("float64")
    >>> print(paddle.zeros([1]).dtype)
    paddle.float64
    >>> paddle.set_default_dtype("float32")
    """
    chosen = to_torch(d)
    if not chosen.is_floating_point:
        raise InvalidArgumentError(f"set_default_dtype takes a type of floats; found {d!r}")
    _state["default"] = chosen
