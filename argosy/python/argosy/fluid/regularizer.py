"""Penalties on the size of parameters."""

from argosy import _core
from argosy._core import Regularization as WeightDecayRegularizer

__all__ = ["L1Decay", "L2Decay", "L1DecayRegularizer", "L2DecayRegularizer", "WeightDecayRegularizer"]


class L1DecayRegularizer(WeightDecayRegularizer):
    """Adds coeff * sign(parameter) to the gradient. For the argument regularization of optimizers, and for ParamAttr.

    >>> optimizer = fluid.optimizer.SGD(0.1, regularization=fluid.regularizer.L1Decay(0.01))
    """

    def __init__(self, regularization_coeff=0.0):
        super().__init__(_core.l1_decay(regularization_coeff))

    def __str__(self):
        return f"L1Decay, regularization_coeff={self.coeff:f}"


class L2DecayRegularizer(WeightDecayRegularizer):
    """Adds coeff * parameter to the gradient. For the argument regularization of optimizers, and for ParamAttr.

    >>> optimizer = fluid.optimizer.SGD(0.1, regularization=fluid.regularizer.L2Decay(0.01))
    """

    def __init__(self, regularization_coeff=0.0):
        super().__init__(_core.l2_decay(regularization_coeff))

    def __str__(self):
        return f"L2Decay, regularization_coeff={self.coeff:f}"


L1Decay = L1DecayRegularizer
L2Decay = L2DecayRegularizer
