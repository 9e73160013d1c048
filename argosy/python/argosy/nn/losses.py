"""Losses as layers: each keeps the arguments of the function of paddle.nn.functional that it is."""
from collections.abc import Callable
from typing import Any

from argosy.dynamic import functional as F
from argosy.dynamic.functional.loss import check_reduction
from argosy.nn.layer import Layer


class _Loss(Layer):
    _function: Callable[..., Any]

    def __init__(self, **arguments):
        super().__init__()
        self._arguments = arguments
        if arguments["reduction"] != "batchmean" or type(self) is not KLDivLoss:
            check_reduction(arguments["reduction"])

    def forward(self, *inputs):
        return self._function(*inputs, **self._arguments)


class CrossEntropyLoss(_Loss):
    _function = staticmethod(F.cross_entropy)

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", soft_label=False, axis=-1, use_softmax=True,
                 label_smoothing=0.0, name=None):
        super().__init__(weight=weight, ignore_index=ignore_index, reduction=reduction, soft_label=soft_label, axis=axis, use_softmax=use_softmax,
                         label_smoothing=label_smoothing)


class MSELoss(_Loss):
    _function = staticmethod(F.mse_loss)

    def __init__(self, reduction="mean", name=None):
        super().__init__(reduction=reduction)


class L1Loss(_Loss):
    _function = staticmethod(F.l1_loss)

    def __init__(self, reduction="mean", name=None):
        super().__init__(reduction=reduction)


class SmoothL1Loss(_Loss):
    _function = staticmethod(F.smooth_l1_loss)

    def __init__(self, reduction="mean", delta=1.0, name=None):
        super().__init__(reduction=reduction, delta=delta)


class NLLLoss(_Loss):
    _function = staticmethod(F.nll_loss)

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", name=None):
        super().__init__(weight=weight, ignore_index=ignore_index, reduction=reduction)


class BCELoss(_Loss):
    _function = staticmethod(F.binary_cross_entropy)

    def __init__(self, weight=None, reduction="mean", name=None):
        super().__init__(weight=weight, reduction=reduction)


class BCEWithLogitsLoss(_Loss):
    _function = staticmethod(F.binary_cross_entropy_with_logits)

    def __init__(self, weight=None, reduction="mean", pos_weight=None, name=None):
        super().__init__(weight=weight, reduction=reduction, pos_weight=pos_weight)


class KLDivLoss(_Loss):
    _function = staticmethod(F.kl_div)

    def __init__(self, reduction="mean", log_target=False, name=None):
        super().__init__(reduction=reduction, log_target=log_target)


class MarginRankingLoss(_Loss):
    _function = staticmethod(F.margin_ranking_loss)

    def __init__(self, margin=0.0, reduction="mean", name=None):
        super().__init__(margin=margin, reduction=reduction)


class HingeEmbeddingLoss(_Loss):
    _function = staticmethod(F.hinge_embedding_loss)

    def __init__(self, margin=1.0, reduction="mean", name=None):
        super().__init__(margin=margin, reduction=reduction)


class CosineEmbeddingLoss(_Loss):
    _function = staticmethod(F.cosine_embedding_loss)

    def __init__(self, margin=0, reduction="mean", name=None):
        super().__init__(margin=margin, reduction=reduction)


class TripletMarginLoss(_Loss):
    _function = staticmethod(F.triplet_margin_loss)

    def __init__(self, margin=1.0, p=2.0, epsilon=1e-06, swap=False, reduction="mean", name=None):
        super().__init__(margin=margin, p=p, epsilon=epsilon, swap=swap, reduction=reduction)


class SoftMarginLoss(_Loss):
    _function = staticmethod(F.soft_margin_loss)

    def __init__(self, reduction="mean", name=None):
        super().__init__(reduction=reduction)


class CTCLoss(_Loss):
    _function = staticmethod(F.ctc_loss)

    def __init__(self, blank=0, reduction="mean", name=None):
        super().__init__(blank=blank, reduction=reduction)


class GaussianNLLLoss(_Loss):
    _function = staticmethod(F.gaussian_nll_loss)

    def __init__(self, full=False, epsilon=1e-06, reduction="mean", name=None):
        super().__init__(full=full, epsilon=epsilon, reduction=reduction)


class PoissonNLLLoss(_Loss):
    _function = staticmethod(F.poisson_nll_loss)

    def __init__(self, log_input=True, full=False, epsilon=1e-08, reduction="mean", name=None):
        super().__init__(log_input=log_input, full=full, epsilon=epsilon, reduction=reduction)


class MultiMarginLoss(_Loss):
    _function = staticmethod(F.multi_margin_loss)

    def __init__(self, p=1, margin=1.0, weight=None, reduction="mean", name=None):
        super().__init__(p=p, margin=margin, weight=weight, reduction=reduction)


class MultiLabelSoftMarginLoss(_Loss):
    _function = staticmethod(F.multi_label_soft_margin_loss)

    def __init__(self, weight=None, reduction="mean", name=None):
        super().__init__(weight=weight, reduction=reduction)


class TripletMarginWithDistanceLoss(_Loss):
    _function = staticmethod(F.triplet_margin_with_distance_loss)

    def __init__(self, distance_function=None, margin=1.0, swap=False, reduction="mean", name=None):
        super().__init__(distance_function=distance_function, margin=margin, swap=swap, reduction=reduction)
