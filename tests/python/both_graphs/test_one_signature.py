"""A function of paddle has one signature, whatever graph it is called in: its other half, which is found by name, takes the same arguments."""

import importlib
import inspect

import pytest

import paddle
from argosy import dispatch

MODULES = {"paddle": paddle, "paddle.nn.functional": paddle.nn.functional}


def other_half(function):
    """What `function` calls in the graph that it was not written for; None where there is none."""
    inner = inspect.unwrap(function)
    if getattr(function, "on_tensors", False):
        return dispatch.building(inner.__module__, inner.__name__)
    place = next((place for beginning, place in dispatch._COMPUTING.items() if inner.__module__.startswith(beginning)), None)
    return None if place is None else getattr(importlib.import_module(place), inner.__name__, None)


def arguments(function):
    """Names, order and defaults. A name at the end is taken by every function, and has no effect on tensors."""
    given = [(one.name, one.default) for one in inspect.signature(function).parameters.values()]
    return given[:-1] if given and given[-1] == ("name", None) else given


def pairs():
    for module, functions in MODULES.items():
        for name in sorted(dir(functions)):
            function = getattr(functions, name)
            other = None if name.startswith("_") or not inspect.isfunction(function) else other_half(function)
            if other is not None:
                yield pytest.param(function, other, id=f"{module}.{name}")


def test_there_are_pairs():
    assert len(list(pairs())) > 400


@pytest.mark.parametrize(("public", "other"), list(pairs()))
def test_both_graphs_take_the_same_arguments(public, other):
    assert arguments(public) == arguments(other)


def test_a_mean_of_lines_takes_exclusive_first():
    """As in 2.6.2, and unlike the means of images: F.avg_pool1d(x, 2, 1, 1, False) counts the padding."""
    lines = paddle.to_tensor([[[2.0, 4.0]]])
    assert paddle.nn.functional.avg_pool1d(lines, 2, 1, 1, False).tolist() == [[[1.0, 3.0, 2.0]]]
    assert paddle.nn.functional.avg_pool1d(lines, 2, 1, 1).tolist() == [[[2.0, 3.0, 4.0]]]
