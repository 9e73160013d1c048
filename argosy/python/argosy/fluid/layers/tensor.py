"""fluid.layers' functions by 1.8.5's module of this name: making and changing tensors."""

from argosy.fluid.layers import modules

__getattr__, __all__ = modules.attach("tensor")  # pyright: ignore[reportUnsupportedDunderAll]
