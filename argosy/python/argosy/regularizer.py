"""Penalties on the size of parameters, under their 2.x names."""

from argosy.fluid import regularizer

__all__ = ["L1Decay", "L2Decay"]


class L1Decay(regularizer.L1DecayRegularizer):
    """A penalty of coeff * the sum of absolute values of a parameter, added to its gradient. For weight_decay of optimizers, and for ParamAttr.

    >>> x = paddle.to_tensor([2.0], stop_gradient=False)
    >>> optimizer = paddle.optimizer.SGD(0.1, [x], weight_decay=paddle.regularizer.L1Decay(0.01))
    """

    def __init__(self, coeff=0.0):
        super().__init__(coeff)


class L2Decay(regularizer.L2DecayRegularizer):
    """A penalty of coeff / 2 * the sum of squares of a parameter, added to its gradient. For weight_decay of optimizers, and for ParamAttr.

    >>> x = paddle.to_tensor([2.0], stop_gradient=False)
    >>> optimizer = paddle.optimizer.SGD(0.1, [x], weight_decay=paddle.regularizer.L2Decay(0.01))
    """

    def __init__(self, coeff=0.0):
        super().__init__(coeff)
