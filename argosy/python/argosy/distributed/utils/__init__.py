"""Small helpers of launchers."""

__all__ = []
