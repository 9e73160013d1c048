"""fluid.layers' functions by 1.8.5's module of this name: losses."""

from argosy.fluid.layers import modules

__getattr__, __all__ = modules.attach("loss")  # pyright: ignore[reportUnsupportedDunderAll]
