"""The static front end of PaddlePaddle 2.x."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
