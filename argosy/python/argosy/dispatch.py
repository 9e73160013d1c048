"""Functions that exist for both graphs: a Variable builds, a Tensor computes."""
import functools
import importlib
import sys

from argosy import _core

__all__ = ["builds", "computing", "is_tensor"]

_COMPUTING = {  # what builds -> what computes, by the same names
    "argosy.tensor": "argosy.dynamic.functions",
    "argosy.creation": "argosy.dynamic.functions",
    "argosy.nn.functional.both_graphs": "argosy.dynamic.functional",
}


def _variables(value):
    if isinstance(value, (list, tuple)) and value:
        return any(_variables(item) for item in value)
    return isinstance(value, _core.Variable)


def builds(function):
    """`function` builds where an argument is a Variable, or a list with one. Otherwise what has its name in the dynamic graph computes."""

    @functools.wraps(function)
    def chosen(*args, **kwargs):
        if any(map(_variables, args)) or any(map(_variables, kwargs.values())):
            return function(*args, **kwargs)
        return computing(chosen.__module__, chosen.__name__)(*args, **kwargs)

    return chosen


@functools.cache
def computing(module, name):
    """The function of the dynamic graph for `name` of `module`."""
    return getattr(importlib.import_module(_COMPUTING[module]), name)


def is_tensor(value):
    """Whether value is a Tensor. Where torch is not loaded there is none, and it stays so."""
    dynamic = sys.modules.get("argosy.dynamic.tensor")
    return dynamic is not None and isinstance(value, dynamic.Tensor)
