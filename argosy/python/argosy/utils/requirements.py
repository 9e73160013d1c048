"""What a script says of the Paddle that it was written for."""

from argosy.fluid.framework import require_version

__all__ = ["require_version"]
