"""paddle.nn.functional on tensors."""
from argosy.dynamic.functional import activation, common, convolution, folding, grids, hierarchical, likelihood, loss, margins, norm, pooling, unpooling

_MODULES = (activation, common, convolution, folding, grids, hierarchical, likelihood, loss, margins, norm, pooling, unpooling)
_TABLE = {name: function for module in _MODULES for name, function in module.FUNCTIONS.items()}
globals().update(_TABLE)
__all__ = sorted(_TABLE)
