"""fluid's functions over sequences, where 2.6 has them."""

from argosy.fluid import layers

__all__ = sorted(name for name in vars(layers) if name.startswith("sequence_"))  # pyright: ignore[reportUnsupportedDunderAll]
globals().update({name: getattr(layers, name) for name in __all__})
