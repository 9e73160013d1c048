"""paddle.optimizer: for tensors, by step(), and for static programs, by minimize()."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
