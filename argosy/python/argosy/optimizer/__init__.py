"""paddle.optimizer: for tensors, by step(), and for static programs, by minimize()."""
from argosy import _lazy

_CLASSES = "Optimizer SGD Momentum Adagrad Adadelta Adam AdamW Adamax RMSProp Lamb"

__getattr__, __dir__ = _lazy.names(__name__, ("lr",), {name: "optimizers" for name in _CLASSES.split()})
