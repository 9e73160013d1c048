"""fluid.layers' functions by 1.8.5's module of this name: recurrent layers."""

from argosy.fluid.layers import modules

__getattr__, __all__ = modules.attach("rnn")  # pyright: ignore[reportUnsupportedDunderAll]
