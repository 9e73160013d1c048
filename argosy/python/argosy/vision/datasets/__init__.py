"""Image data sets, from the files that Paddle keeps in ~/.cache/paddle/dataset. Nothing is downloaded."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
