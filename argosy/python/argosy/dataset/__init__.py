"""paddle.dataset: readers of well-known data sets, from the files that Paddle keeps in ~/.cache/paddle/dataset."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__, star_modules=True)
