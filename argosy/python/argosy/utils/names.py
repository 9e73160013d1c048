"""fluid.unique_name under its 2.x name."""

from argosy.fluid import unique_name

__all__ = ["unique_name"]
