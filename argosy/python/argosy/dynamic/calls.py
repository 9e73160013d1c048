"""How a function on torch tensors becomes one on Tensors."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec

import torch

from argosy import dispatch, tensor
from argosy.dynamic import casting, dtypes
from argosy.dynamic.tensor import Tensor, unwrap, wrap
from argosy.errors import InvalidArgumentError
from argosy.nn.functional import both_graphs

__all__ = ["computes", "functions_of", "made_of", "named", "on_tensors"]

_NUMBERS = (int, float, bool)
_Arguments = ParamSpec("_Arguments")


def _check(name, first):
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if not isinstance(first, (Tensor, torch.Tensor, *_NUMBERS)):
        raise InvalidArgumentError(
            f"paddle.{name}: the first argument is a Tensor, or a Variable of a static program; found {type(first).__name__}; paddle.to_tensor makes one of it"
        )


def _refused(name, args, kwargs, error):
    """torch's refusal of the arguments as ours, with what they were; None where the error is of another kind."""
    text = str(error)
    if type(error) is not RuntimeError or "memory" in text or "CUDA" in text:
        return None
    tensors = [one for part in (*args, *kwargs.values()) for one in (part if isinstance(part, (list, tuple)) else (part,)) if isinstance(one, torch.Tensor)]
    given = ", ".join(f"{list(one.shape)} {dtypes.name_of(one.dtype)}" for one in tensors)
    return InvalidArgumentError(f"{name}() of tensors {given}: {text.splitlines()[0] if text else 'refused'}")


def named(function: Callable[_Arguments, Any], name, doc=None) -> Callable[_Arguments, Any]:
    """`function` with the name, and the docstring, that it is public under."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc or function.__doc__
    return function


def _first(args, kwargs):
    return args[0] if args else next(iter(kwargs.values()), None)


def _builds(args, kwargs):
    """Whether the arguments are Variables of a program. A Tensor in front settles it."""
    return not isinstance(_first(args, kwargs), Tensor) and (any(map(dispatch.holds_variable, args)) or any(map(dispatch.holds_variable, kwargs.values())))


def on_tensors(function: Callable[_Arguments, Any]) -> Callable[_Arguments, Any]:
    """Marks a function that takes and returns Tensors: functions_of() finds it. On Variables what has its name in argosy.building builds."""

    @functools.wraps(function)
    def called(*args, **kwargs):
        return dispatch.built(function, *args, **kwargs) if _builds(args, kwargs) else function(*args, **kwargs)

    setattr(called, "on_tensors", True)  # noqa: B010
    return called


def functions_of(*modules):
    """{name: function} of what modules have of on_tensors and computes."""
    return {name: value for module in modules for name, value in vars(module).items() if getattr(value, "on_tensors", False) and not name.startswith("_")}


def _doc(function):
    """Its docstring: its own, or that of the function for both graphs that calls it on tensors."""
    both = both_graphs if function.__module__.startswith("argosy.dynamic.functional.") else tensor
    return function.__doc__ or getattr(vars(both).get(function.__name__), "__doc__", None)


def computes(function: Callable[_Arguments, Any]) -> Callable[_Arguments, Any]:
    """`function` takes and returns torch tensors; the result takes and returns Tensors. Paddle's `name`, which only programs use, has no effect."""

    @functools.wraps(function)
    def called(*args, name=None, **kwargs):
        if _builds(args, kwargs):
            return dispatch.built(function, *args, **kwargs, **({} if name is None else {"name": name}))
        _check(function.__name__, _first(args, kwargs))
        args, kwargs = [unwrap(one) for one in args], {key: unwrap(value) for key, value in kwargs.items()}
        try:
            return wrap(casting.applied(function.__name__, function, args, kwargs) if casting.active() else function(*args, **kwargs))  # pyright: ignore[reportCallIssue]
        except RuntimeError as error:
            refused = _refused(function.__name__, args, kwargs, error)
            if refused is None:
                raise
            raise refused from error

    called.__doc__ = _doc(function)
    setattr(called, "on_tensors", True)  # noqa: B010
    return called


def made_of(function, name):
    """A torch function under a name of ours, of the same arguments."""

    def called(*args):
        return function(*args)

    return computes(named(called, name, f"torch's {getattr(function, '__name__', name)}."))
