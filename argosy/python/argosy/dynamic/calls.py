"""How a function on torch tensors becomes one on Tensors."""
import functools

import torch

from argosy.dynamic import casting
from argosy.dynamic.tensor import Tensor, unwrap, wrap
from argosy.errors import InvalidArgumentError

__all__ = ["computes", "made_of", "same_names"]

_NUMBERS = (int, float, bool)


def _check(name, first):
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if not isinstance(first, (Tensor, torch.Tensor, *_NUMBERS)):
        raise InvalidArgumentError(f"paddle.{name}: the first argument is a Tensor, or a Variable of a static program; found "
                                   f"{type(first).__name__}; paddle.to_tensor makes one of it")


def computes(function):
    """`function` takes and returns torch tensors; the result takes and returns Tensors, and Paddle's `name`, which only programs use."""

    @functools.wraps(function)
    def on_tensors(*args, name=None, **kwargs):
        _check(function.__name__, args[0] if args else next(iter(kwargs.values()), None))
        args, kwargs = [unwrap(one) for one in args], {key: unwrap(value) for key, value in kwargs.items()}
        return wrap(casting.applied(function.__name__, function, args, kwargs) if casting.active() else function(*args, **kwargs))

    return on_tensors


def made_of(function, name):
    """A torch function under Paddle's name for it: arguments in the same order, of which x and y may come by name."""
    def on_torch(*args, **kwargs):
        return function(*args, *(kwargs.pop(key) for key in ("x", "y") if key in kwargs), **kwargs)
    on_torch.__name__ = on_torch.__qualname__ = name
    on_torch.__doc__ = f"torch's {getattr(function, '__name__', name)}."
    return computes(on_torch)


def same_names(module, names):
    """{name: function} for the names that mean the same in `module`, one of torch's, and in Paddle."""
    return {name: made_of(getattr(module, name), name) for name in names.split()}
