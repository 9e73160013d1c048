"""Penalties on the size of parameters, under their 2.x names."""
from argosy.fluid import regularizer

__all__ = ["L1Decay", "L2Decay"]


class L1Decay(regularizer.L1DecayRegularizer):
    def __init__(self, coeff=0.0):
        super().__init__(coeff)


class L2Decay(regularizer.L2DecayRegularizer):
    def __init__(self, coeff=0.0):
        super().__init__(coeff)
