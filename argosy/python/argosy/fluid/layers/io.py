"""fluid.layers' functions by 1.8.5's module of this name: input of programs."""

from argosy.fluid.layers import modules

__getattr__, __all__ = modules.attach("io")  # pyright: ignore[reportUnsupportedDunderAll]
