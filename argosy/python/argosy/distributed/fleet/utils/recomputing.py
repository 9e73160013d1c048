"""Memory for time: what a part of a model has computed is dropped, and computed once more in the backward pass."""

import contextlib

import torch
from torch.utils.checkpoint import checkpoint

from argosy import graph_mode
from argosy.dynamic import casting
from argosy.errors import InvalidArgumentError

__all__ = ["recompute"]


def recompute(function, *args, **kwargs):
    """function(*args, **kwargs), of which the backward pass computes once more what it needs, with the same random numbers.

    function: a Layer or a function of tensors. preserve_rng_state=False leaves random numbers as they come; use_reentrant has no effect on values.

    >>> layer, x = nn.Linear(2, 1), paddle.ones([3, 2])
    >>> paddle.distributed.fleet.utils.recompute(layer, x).sum().backward()
    >>> layer.weight.grad.tolist()
    [[3.0], [3.0]]
    """
    graph_mode.refuse_static("fleet.utils.recompute")
    preserve = kwargs.pop("preserve_rng_state", True)
    kwargs.pop("use_reentrant", True)  # two ways to the same values; torch's second one is used for both
    if not callable(function):
        raise InvalidArgumentError(f"recompute takes a Layer or a function; found {type(function).__name__}")
    if not torch.is_grad_enabled():
        return function(*args, **kwargs)
    return checkpoint(function, *args, use_reentrant=False, preserve_rng_state=preserve, context_fn=_contexts, **kwargs)


def _contexts():
    """The casts that are in force now hold for the second computation too."""
    return contextlib.nullcontext(), casting.again()
