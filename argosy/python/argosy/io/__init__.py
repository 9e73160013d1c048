"""paddle.io: data sets, samplers and the loader of batches."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
