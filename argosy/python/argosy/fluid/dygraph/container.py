"""Layers and parameters in lists."""

from argosy.nn.containers import LayerList, ParameterList, Sequential

__all__ = ["Sequential", "ParameterList", "LayerList"]
