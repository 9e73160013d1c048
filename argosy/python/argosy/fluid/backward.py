"""Gradients as variables of the program."""

from argosy import _core
from argosy.errors import UnimplementedError
from argosy.fluid import framework

__all__ = ["append_backward", "gradients"]


def names_of(variables):
    """The names in a list, a set or None of variables or names."""
    return [one.name if isinstance(one, framework.Variable) else one for one in variables or ()]


def _as_list(value):
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def append_backward(loss, parameter_list=None, no_grad_set=None, callbacks=None, checkpoints=None):
    """Adds the operator that differentiates `loss`; returns [(parameter, gradient), …].

    >>> loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1))
    >>> [gradient.name for parameter, gradient in fluid.backward.append_backward(loss)]
    ['fc_0.w_0@GRAD', 'fc_0.b_0@GRAD']

    checkpoints: variables, or their names, between which the forward keeps nothing: the backward computes it once more.
    """
    if callbacks:
        raise UnimplementedError("append_backward: there are no callbacks; the backward is one operator")
    return _core.append_backward(loss, names_of(parameter_list), set(names_of(no_grad_set)), names_of(checkpoints))


def gradients(targets, inputs, target_gradients=None, no_grad_set=None):
    """The gradients of the sum of `targets` with respect to `inputs`; None for an input that no target depends on.

    >>> x = fluid.data("x", [None, 2])
    >>> x.stop_gradient = False
    >>> fluid.gradients(fluid.layers.mean(x), x)[0].name
    'x@GRAD'
    """
    return _core.gradients(_as_list(targets), _as_list(inputs), _as_list(target_gradients), set(names_of(no_grad_set)))
