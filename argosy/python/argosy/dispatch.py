"""Functions that exist for both graphs: a Variable builds, a Tensor computes.

Each has one public definition. One that is defined where programs are built (`builds`, `by_mode`) finds by name what computes it; one that is
defined in argosy.dynamic (`computes`, `on_tensors`) finds by name what builds it. The two tables below say where.
"""

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any, ParamSpec

from argosy import _core, graph_mode
from argosy.errors import UnimplementedError

__all__ = ["builds", "by_mode", "building", "builds_as", "built", "computing", "holds_variable", "is_tensor"]

_Arguments = ParamSpec("_Arguments")
_COMPUTING = {  # what builds, by the beginning of its module -> what computes, by the same names
    "argosy.tensor": "argosy.dynamic.functions",
    "argosy.creation": "argosy.dynamic.functions",
    "argosy.nn.functional.both_graphs": "argosy.dynamic.functional",
    "argosy.nn.parts": "argosy.dynamic.initial",
}
_BUILDING = {  # what computes -> where what builds may be, by the same names; the longest beginning counts
    "argosy.dynamic.functional.": ("argosy.nn.functional.both_graphs", "argosy.building.functional"),
    "argosy.dynamic.": ("argosy.tensor", "argosy.creation", "argosy.building.functions"),
    "argosy.linalg": ("argosy.building.functions",),
}


def holds_variable(value):
    """Whether value is a Variable of a program, or a list or tuple with one inside."""
    if isinstance(value, (list, tuple)) and value:
        return any(holds_variable(item) for item in value)
    return isinstance(value, _core.Variable)


def builds(function: Callable[_Arguments, Any]) -> Callable[_Arguments, Any]:
    """`function` builds where an argument is a Variable, or a list with one. Otherwise what has its name in the dynamic graph computes."""

    @functools.wraps(function)
    def chosen(*args, **kwargs):
        if any(map(holds_variable, args)) or any(map(holds_variable, kwargs.values())):
            return function(*args, **kwargs)
        return computing(chosen.__module__, chosen.__name__)(*args, **kwargs)

    return chosen


def by_mode(function: Callable[_Arguments, Any]) -> Callable[_Arguments, Any]:
    """`function` builds in static mode, or where an argument is a Variable. Otherwise what has its name in the dynamic graph computes."""

    @functools.wraps(function)
    def chosen(*args, **kwargs):
        if not graph_mode.in_dynamic_mode() or any(map(holds_variable, args)) or any(map(holds_variable, kwargs.values())):
            return function(*args, **kwargs)
        return computing(chosen.__module__, chosen.__name__)(*args, **kwargs)

    return chosen


def builds_as(name):
    """A method of a layer that computes with torch's kernels: on Variables the function `name` of argosy.building.layers builds instead."""

    def decorate(method):
        @functools.wraps(method)
        def chosen(self, *args, **kwargs):
            if any(map(holds_variable, args)) or any(map(holds_variable, kwargs.values())):
                return getattr(importlib.import_module("argosy.building.layers"), name)(self, *args, **kwargs)
            return method(self, *args, **kwargs)

        return chosen

    return decorate


@functools.cache
def computing(module, name):
    """The function of the dynamic graph for `name` of `module`."""
    place = next(place for beginning, place in _COMPUTING.items() if module.startswith(beginning))
    return getattr(importlib.import_module(place), name)


@functools.cache
def building(module, name):
    """The function that builds for `name`, whose computing definition is in `module`; None where programs have no operators for it."""
    for beginning, places in _BUILDING.items():
        if module.startswith(beginning):
            names = (name, name[:-1]) if name.endswith("_") else (name,)  # what is changed in place elsewhere is a new variable of a program
            found = (vars(importlib.import_module(place)).get(one) for one in names for place in places)
            return next((one for one in found if one is not None), None)
    return None


def built(function, *args, **kwargs):
    """What `function` of the dynamic graph builds of Variables."""
    found = building(function.__module__, function.__name__)
    if found is None:
        raise UnimplementedError(
            f"{function.__name__} has no operators for Variables of programs; use it on tensors of the dynamic graph, or build the same of other functions"
        )
    return found(*args, **kwargs)


def is_tensor(value):
    """Whether value is a Tensor. Where torch is not loaded there is none, and it stays so."""
    dynamic = sys.modules.get("argosy.dynamic.tensor")
    return dynamic is not None and isinstance(value, dynamic.Tensor)
