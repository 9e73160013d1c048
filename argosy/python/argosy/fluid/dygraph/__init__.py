"""The dynamic graph under 1.8's names, with the layers that have 1.8's arguments."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__, star_modules=True)
