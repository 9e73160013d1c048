"""paddle.nn.functional: functions on tensors, of which some are also for variables of static programs."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
