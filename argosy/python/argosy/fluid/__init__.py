"""The static front end of PaddlePaddle 1.x: programs, layers, executors."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__, star_modules=True)
