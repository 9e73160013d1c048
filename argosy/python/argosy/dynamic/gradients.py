"""Whether gradients are recorded, and gradients without backward()."""

import functools
from typing import Any

import torch

from argosy import _finite
from argosy.dynamic.tensor import Tensor, unwrap

__all__ = ["no_grad", "enable_grad", "set_grad_enabled", "is_grad_enabled", "grad"]


class _Switch:
    """A context and a decorator, with or without brackets: @paddle.no_grad and @paddle.no_grad()."""

    _make: Any = None
    _contexts: list[Any]

    def __new__(cls, function=None) -> Any:
        made = super().__new__(cls)
        made._contexts = []
        return made(function) if callable(function) else made

    def __init__(self, function=None):
        pass

    def __enter__(self):
        self._contexts.append(type(self)._make())
        self._contexts[-1].__enter__()

    def __exit__(self, *error):
        return self._contexts.pop().__exit__(*error)

    def __call__(self, function):
        make = type(self)._make

        @functools.wraps(function)
        def switched(*args, **kwargs):
            with make():
                return function(*args, **kwargs)

        return switched


class no_grad(_Switch):
    """What is computed inside takes no gradients. A context and a decorator.

    >>> x = paddle.to_tensor([1.0], stop_gradient=False)
    >>> with paddle.no_grad():
    ...     y = x * 2
    >>> y.stop_gradient
    True
    """

    _make = torch.no_grad


class enable_grad(_Switch):
    """What is computed inside takes gradients again, where it is inside of a no_grad. A context and a decorator.

    >>> x = paddle.to_tensor([1.0], stop_gradient=False)
    >>> with paddle.no_grad(), paddle.enable_grad():
    ...     y = x * 2
    >>> y.stop_gradient
    False
    """

    _make = torch.enable_grad


def set_grad_enabled(mode):
    """Whether gradients are recorded from now on. The result is a context at whose end it is as before.

    >>> with paddle.set_grad_enabled(False):
    ...     paddle.is_grad_enabled()
    False
    """
    return torch.set_grad_enabled(mode)


def is_grad_enabled():
    """Whether gradients are recorded.

    >>> paddle.is_grad_enabled()
    True
    """
    return torch.is_grad_enabled()


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=False, no_grad_vars=None):
    """[the gradient of the sum of outputs by each input]; tensors' own .grad stay as they are.

    grad_outputs weigh the outputs. create_graph lets gradients be taken of the result; an input that has no part is an error unless allow_unused.

    >>> x = paddle.to_tensor([3.0], stop_gradient=False)
    >>> paddle.grad(x * x, x)[0].tolist()
    [6.0]
    """

    def listed(value):
        return list(value) if isinstance(value, (list, tuple)) else [value]

    outputs, inputs = unwrap(listed(outputs)), unwrap(listed(inputs))
    if not only_inputs or no_grad_vars:
        raise NotImplementedError("paddle.grad: only_inputs=False and no_grad_vars are not there; set stop_gradient on the tensors instead")
    given = [None] * len(outputs) if grad_outputs is None else unwrap(listed(grad_outputs))
    given = [torch.ones_like(output) if one is None else one for output, one in zip(outputs, given)]
    with _finite.watched_backward():
        found = torch.autograd.grad(outputs, inputs, given, retain_graph=retain_graph, create_graph=create_graph, allow_unused=allow_unused)
    return [None if one is None else Tensor(one) for one in found]
