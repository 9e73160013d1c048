"""paddle.utils: generated names, the version that a script needs, a check of the installation."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
