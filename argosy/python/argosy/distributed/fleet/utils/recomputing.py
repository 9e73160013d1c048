"""Memory for time: what a part of a model has computed is dropped, and computed once more in the backward pass."""

import contextlib

import torch
from torch.utils.checkpoint import checkpoint

from argosy import graph_mode
from argosy.dynamic import casting
from argosy.errors import InvalidArgumentError

__all__ = ["recompute", "recompute_sequential", "recompute_sublayers"]


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


def recompute_sequential(ctx, functions, *args, **kwargs):
    """functions, layer after layer, in ctx["segments"] parts of which the backward computes each once more; with one the whole, as a part.

    ctx: a dict; preserve_rng_state is the other key. functions: a paddle.nn.Sequential, or a list of layers.

    >>> layers, x = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1)), paddle.ones([3, 2])
    >>> paddle.distributed.fleet.utils.recompute_sequential({"segments": 2}, layers, x).shape
    [3, 1]
    """
    layers, segments = list(functions), int(ctx.get("segments", 1))
    if segments < 1 or segments > max(len(layers), 1):
        raise InvalidArgumentError(f"recompute_sequential: segments={segments} of {len(layers)} layers; expected 1 to {len(layers)}")
    preserve, size = bool(ctx.get("preserve_rng_state", True)), -(-len(layers) // segments)

    def part(begin):
        def run(*values, **given):
            for layer in layers[begin : begin + size]:
                values = (layer(*values, **given),)
                given = {}
            return values[0]

        return run

    for begin in range(0, len(layers), size):
        args = (recompute(part(begin), *args, preserve_rng_state=preserve, **kwargs),)
        kwargs = {}
    return args[0]


def recompute_sublayers(model, names):
    """Makes the forward of each sublayer of `model` that `names` has one that the backward computes once more. An unknown name is an error."""
    known = dict(model.named_sublayers())
    for name in names:
        if name not in known:
            raise InvalidArgumentError(f"recompute: the model has no sublayer '{name}'; it has {', '.join(known) or 'none'}")
        _recomputed(known[name])


def _recomputed(layer):
    forward = layer.forward
    if getattr(forward, "_recomputes", False):
        return

    def again(*args, **kwargs):
        return recompute(forward, *args, **kwargs) if layer.training else forward(*args, **kwargs)

    again._recomputes = True  # pyright: ignore[reportFunctionMemberAccess]
    vars(layer)["forward"] = again
