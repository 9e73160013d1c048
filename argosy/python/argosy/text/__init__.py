"""Data sets of texts."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
