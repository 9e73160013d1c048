"""fluid's layer functions in the dynamic graph of 1.8: on tensors each computes. Light: torch comes with the first tensor."""

import functools
import importlib

from argosy import graph_mode
from argosy.dispatch import holds_variable, is_tensor
from argosy.errors import InvalidArgumentError, UnimplementedError
from argosy.fluid.layers import kinds

_CREATE = "assign fill_constant gaussian_random linspace ones range uniform_random zeros create_parameter".split()
_INSTEAD = {  # what has parameters of its own, or keeps state in the program
    "auc": "fluid.metrics.Auc()",
    "batch_norm": "fluid.dygraph.BatchNorm",
    "conv2d": "fluid.dygraph.Conv2D",
    "conv2d_transpose": "fluid.dygraph.Conv2DTranspose",
    "embedding": "fluid.dygraph.Embedding",
    "fc": "fluid.dygraph.Linear",
    "gru_unit": "fluid.dygraph.GRUUnit",
    "layer_norm": "fluid.dygraph.LayerNorm",
    "sparse_embedding": "paddle.nn.Embedding(sparse=True)",
}


def _has_tensor(value):
    return any(map(_has_tensor, value)) if isinstance(value, (list, tuple)) else is_tensor(value)


def _computing(name):
    found = getattr(importlib.import_module("argosy.dynamic.fluid_layers"), name, None)
    if found is None:
        instead = _INSTEAD.get(name, f"a function of paddle or paddle.nn.functional, or fluid.layers.{name} on Variables of a program")
        raise UnimplementedError(f"fluid.layers.{name} does not compute on tensors of the dynamic graph; use {instead}")
    return found


def on_tensors(function):
    """`function` builds; where an argument is a Tensor, or nothing says which and the script is in 1.8's dynamic graph, it computes."""
    name = function.__name__
    creates, expected = name in _CREATE, kinds.checked_arguments(function)

    @functools.wraps(function)
    def chosen(*args, **kwargs):
        has_tensor = any(map(_has_tensor, args)) or any(map(_has_tensor, kwargs.values()))
        if has_tensor and (any(map(holds_variable, args)) or any(map(holds_variable, kwargs.values()))):
            raise InvalidArgumentError(
                f"{name}: found a Variable of a program beside a Tensor of the dynamic graph; make layers and parameters after paddle.enable_static(), "
                "or give Tensors only"
            )
        if has_tensor or (creates and graph_mode.layers_compute()):
            return _computing(name)(*args, **kwargs)
        kinds.check(name, expected, args, kwargs)
        return function(*args, **kwargs)

    chosen.__text_signature__ = getattr(function, "__text_signature__", None)  # pyright: ignore[reportAttributeAccessIssue]
    return chosen
