"""paddle.nn.functional on tensors."""
from argosy.dynamic.functional import activation, common, convolution, loss, norm, pooling

_TABLE = {name: function for module in (activation, common, convolution, loss, norm, pooling) for name, function in module.FUNCTIONS.items()}
globals().update(_TABLE)
__all__ = sorted(_TABLE)
