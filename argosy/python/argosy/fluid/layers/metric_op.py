"""fluid.layers' functions by 1.8.5's module of this name: metrics in programs."""

from argosy.fluid.layers import modules

__getattr__, __all__ = modules.attach("metric_op")  # pyright: ignore[reportUnsupportedDunderAll]
