"""Functions whose names end in _: the result becomes the value of a tensor that they are given, and they return that tensor."""

import functools
import math

import torch

from argosy import _core
from argosy.dynamic.tensor import Tensor, unwrap
from argosy.errors import InvalidArgumentError

__all__ = ["FILLS", "becomes", "changing", "filling", "retyped", "written"]


def _check(x, what):
    if not isinstance(x, Tensor):
        raise InvalidArgumentError(f"paddle.{what} changes a Tensor; found {type(x).__name__}")
    if torch.is_grad_enabled() and x._torch.requires_grad and x._torch.is_leaf:
        raise InvalidArgumentError(
            f"{what}: '{x.name}' takes gradients and is not computed from others, so that its change could not be recorded; "
            f"call {what} inside of paddle.no_grad(), or use the function without the _"
        )


def becomes(x, result):
    """x has the values, the shape and the type of `result`, a torch tensor."""
    x._torch = result
    return x


def written(x, result):
    """x has the values of `result` in its own type; in its own memory too, unless the shape is another or gradients go through the change."""
    typed = result if result.dtype == x._torch.dtype else result.to(x._torch.dtype)
    if typed.requires_grad or typed.shape != x._torch.shape:
        return becomes(x, typed)
    with torch.no_grad():
        x._torch.copy_(typed)
    return x


def retyped(x, result):
    """written(), but x takes the type of the result."""
    return written(x, result) if result.dtype == x._torch.dtype else becomes(x, result)


def _doc(function, name):
    """What `function` says of itself, with an example that calls `name`."""
    before = function.__name__
    _, found, example = (function.__doc__ or "").partition(">>>")
    summary = f"paddle.{before} in place: the result becomes the value of the tensor, which is returned."
    return summary + (f"\n\n    {found}{example}" if found else "").replace(f".{before}(", f".{name}(")


def changing(function, change=written, position=0, key="x"):
    """A function of Tensors as one that changes an argument: the first, called x, unless `position` and `key` say otherwise."""
    name = function.__name__ + "_"

    @functools.wraps(function)
    def changed(*args, **kwargs):
        x = args[position] if len(args) > position else kwargs.get(key)
        if isinstance(x, _core.Variable):  # a program's variables are not changed: the result is a new one, as in Paddle
            return function(*args, **kwargs)
        _check(x, name)
        return change(x, function(*args, **kwargs)._torch)

    changed.__name__ = changed.__qualname__ = name
    changed.__doc__ = _doc(function, name)
    return changed


def filling(name, doc=None):
    """One of FILLS on a Tensor. What a computed tensor was computed from takes no gradient through the places that are filled."""
    fill = FILLS[name]

    def changed(x, *args, name=None, **kwargs):
        recorded = x._torch.requires_grad and not x._torch.is_leaf and torch.is_grad_enabled()
        if recorded:
            x._torch = x._torch.clone()  # the values before may be needed for gradients
        with torch.set_grad_enabled(recorded):
            fill(x._torch, *args, **kwargs)
        return x

    changed.__name__ = changed.__qualname__ = name
    changed.__doc__ = doc
    return changed


def _uniform(x, min=-1.0, max=1.0, seed=0):
    x.uniform_(min, max, generator=torch.Generator(x.device).manual_seed(seed) if seed else None)


def _geometric(x, probs):
    """Waiting times without rounding to whole trials, as in 2.6.2."""
    x.uniform_(torch.finfo(x.dtype).tiny, 1).log_().div_(math.log1p(-float(probs)))


def _fill_diagonal(x, value, offset=0, wrap=False):
    if not offset:
        x.fill_diagonal_(value, wrap)
    elif x.dim() == 2 and not wrap:
        x.diagonal(offset).fill_(value)
    else:
        raise InvalidArgumentError(f"fill_diagonal_: offset is for matrices without wrap; found {x.dim()} axes, offset {offset} and wrap {wrap}")


FILLS = {
    "zero_": lambda x: x.zero_(),
    "fill_": lambda x, value: x.fill_(unwrap(value)),
    "uniform_": _uniform,
    "normal_": lambda x, mean=0.0, std=1.0: x.normal_(mean, std),
    "exponential_": lambda x, lam=1.0: x.exponential_(lam),
    "fill_diagonal_": _fill_diagonal,
    "cauchy_": lambda x, loc=0, scale=1: x.cauchy_(loc, scale),
    "geometric_": _geometric,
}
