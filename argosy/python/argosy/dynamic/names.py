"""Names of the package itself that come with torch: types, generators, and what other modules have."""
import numpy
import torch

from argosy.distributed.parallel import DataParallel
from argosy.dynamic.dtypes import TYPES, get_default_dtype, set_default_dtype, to_torch
from argosy.dynamic.tensor import Tensor
from argosy.hapi import Model, summary

__all__ = ["Tensor", "Model", "summary", "DataParallel", "get_default_dtype", "set_default_dtype", "get_rng_state", "set_rng_state", "finfo", "iinfo",
           "set_printoptions", *TYPES]

globals().update(TYPES)


def get_rng_state(device=None):
    """The states of the generators, for set_rng_state."""
    return [torch.get_rng_state(), *torch.cuda.get_rng_state_all()] if torch.cuda.is_available() else [torch.get_rng_state()]


def set_rng_state(state_list, device=None):
    torch.set_rng_state(state_list[0])
    if len(state_list) > 1:
        torch.cuda.set_rng_state_all(state_list[1:])


def finfo(dtype):
    """Limits of a type of floats."""
    return torch.finfo(to_torch(dtype))


def iinfo(dtype):
    """Limits of a type of integers."""
    return torch.iinfo(to_torch(dtype))


def set_printoptions(threshold=None, edgeitems=None, linewidth=None):
    """How much of a tensor is printed: NumPy's options of the same names."""
    given = {"threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    numpy.set_printoptions(**{name: value for name, value in given.items() if value is not None})
