"""What models are made of."""

from argosy.nn.layer import Layer

__all__ = ["Layer"]
