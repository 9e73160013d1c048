"""fluid.layers' functions by 1.8.5's module of this name: comparisons, branches and loops."""

from argosy.fluid.layers import modules

__getattr__, __all__ = modules.attach("control_flow")  # pyright: ignore[reportUnsupportedDunderAll]
