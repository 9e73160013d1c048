"""paddle.framework: saving and loading, and names that scripts take from here."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
