"""fluid.layers' functions by 1.8.5's module of this name: layers over sequences."""

from argosy.fluid.layers import modules

__getattr__, __all__ = modules.attach("sequence_lod")  # pyright: ignore[reportUnsupportedDunderAll]
