"""paddle.Model: training, evaluating and predicting in one call."""
from argosy import _lazy

_NAMES = {"Model": "model", "summary": "summaries"}

__getattr__, __dir__ = _lazy.names(__name__, ("model", "summaries", "progress"), _NAMES)
