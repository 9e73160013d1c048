"""paddle.inference: saved models that predict, by PaddlePaddle's predictor interface."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
