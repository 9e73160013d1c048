"""Names of the package itself that come with torch: types, generators, and what other modules have."""

import numpy
import torch

from argosy.distributed.parallel import DataParallel
from argosy.dynamic.dtypes import TYPES, get_default_dtype, set_default_dtype, to_torch
from argosy.dynamic.tensor import Tensor
from argosy.hapi import Model, summary

__all__ = [
    "Tensor",
    "Model",
    "summary",
    "DataParallel",
    "get_default_dtype",
    "set_default_dtype",
    "get_rng_state",
    "set_rng_state",
    "finfo",
    "iinfo",
    "set_printoptions",
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
]

bool = TYPES["bool"]
uint8 = TYPES["uint8"]
int8 = TYPES["int8"]
int16 = TYPES["int16"]
int32 = TYPES["int32"]
int64 = TYPES["int64"]
float16 = TYPES["float16"]
bfloat16 = TYPES["bfloat16"]
float32 = TYPES["float32"]
float64 = TYPES["float64"]


def get_rng_state(device=None):
    """The states of the generators of random numbers, for set_rng_state.

    >>> state = paddle.get_rng_state()
    >>> first = paddle.rand([2])
    >>> paddle.set_rng_state(state)
    >>> bool(paddle.equal_all(first, paddle.rand([2])))
    True
    """
    return [torch.get_rng_state(), *torch.cuda.get_rng_state_all()] if torch.cuda.is_available() else [torch.get_rng_state()]


def set_rng_state(state_list, device=None):
    """Puts the generators of random numbers back to where get_rng_state found them.

    >>> state = paddle.get_rng_state()
    >>> first = paddle.rand([2])
    >>> paddle.set_rng_state(state)
    >>> bool(paddle.equal_all(first, paddle.rand([2])))
    True
    """
    torch.set_rng_state(state_list[0])
    if len(state_list) > 1:
        torch.cuda.set_rng_state_all(state_list[1:])


def finfo(dtype):
    """Limits of a type of floats: max, min, eps, tiny, bits.

    >>> paddle.finfo("float32").eps
    1.1920928955078125e-07
    """
    return torch.finfo(to_torch(dtype))


def iinfo(dtype):
    """Limits of a type of whole numbers: max, min, bits.

    >>> paddle.iinfo("int8").max
    127
    """
    return torch.iinfo(to_torch(dtype))


def set_printoptions(threshold=None, edgeitems=None, linewidth=None):
    """How much of a tensor is printed: NumPy's options of the same names.

    >>> paddle.set_printoptions(threshold=1000)
    """
    given = {"threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    numpy.set_printoptions(**{name: value for name, value in given.items() if value is not None})
