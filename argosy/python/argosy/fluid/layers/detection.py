"""fluid.layers' functions by 1.8.5's module of this name: detection of objects."""

from argosy.fluid.layers import modules

__getattr__, __all__ = modules.attach("detection")  # pyright: ignore[reportUnsupportedDunderAll]
