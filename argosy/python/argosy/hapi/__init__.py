"""paddle.Model: training, evaluating and predicting in one call."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
