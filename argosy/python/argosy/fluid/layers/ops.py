"""fluid.layers' functions by 1.8.5's module of this name: functions of each element."""

from argosy.fluid.layers import modules

__getattr__, __all__ = modules.attach("ops")  # pyright: ignore[reportUnsupportedDunderAll]
