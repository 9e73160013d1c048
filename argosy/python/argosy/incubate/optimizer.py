"""paddle.incubate.optimizer."""

from argosy.fluid.averages import ModelAverage
from argosy.fluid.lookahead import LookAhead

__all__ = ["LookAhead", "ModelAverage"]
