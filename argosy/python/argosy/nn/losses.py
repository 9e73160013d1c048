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

    def forward(self, *inputs, **named):
        """The inputs have the names that the function gives them."""
        return self._function(*inputs, **named, **self._arguments)


class CrossEntropyLoss(_Loss):
    """-log of the probability of the label, as a layer: the mean, the sum or each ('none').

    The input holds logits unless use_softmax is False; the label class numbers, or probabilities where soft_label. See paddle.nn.functional.cross_entropy.

    >>> print(nn.CrossEntropyLoss()(paddle.to_tensor([[0.0, 0.0]]), paddle.to_tensor([1])).numpy())
    0.6931472
    """

    _function = staticmethod(F.cross_entropy)

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", soft_label=False, axis=-1, use_softmax=True, label_smoothing=0.0, name=None):
        super().__init__(
            weight=weight,
            ignore_index=ignore_index,
            reduction=reduction,
            soft_label=soft_label,
            axis=axis,
            use_softmax=use_softmax,
            label_smoothing=label_smoothing,
        )


class MSELoss(_Loss):
    """(input - label) ** 2, as a layer: the mean, the sum or each ('none').

    >>> print(nn.MSELoss()(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([1.0, 1.0])).numpy())
    2.0
    """

    _function = staticmethod(F.mse_loss)

    def __init__(self, reduction="mean", name=None):
        super().__init__(reduction=reduction)


class L1Loss(_Loss):
    """|input - label|, as a layer: the mean, the sum or each ('none').

    >>> print(nn.L1Loss()(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([1.0, 1.0])).numpy())
    1.0
    """

    _function = staticmethod(F.l1_loss)

    def __init__(self, reduction="mean", name=None):
        super().__init__(reduction=reduction)


class SmoothL1Loss(_Loss):
    """Half of the squared difference up to `delta`, and linear beyond, as a layer: the mean, the sum or each ('none').

    >>> print(nn.SmoothL1Loss()(paddle.to_tensor([0.5]), paddle.to_tensor([0.0])).numpy())
    0.125
    """

    _function = staticmethod(F.smooth_l1_loss)

    def __init__(self, reduction="mean", delta=1.0, name=None):
        super().__init__(reduction=reduction, delta=delta)


class NLLLoss(_Loss):
    """-input at the label, where the input holds logarithms of probabilities, as a layer: the mean, the sum or each ('none').

    `weight` has a number for each class; labels of ignore_index do not count.

    >>> print(nn.NLLLoss()(paddle.to_tensor([[-1.0, -2.0]]), paddle.to_tensor([1])).numpy())
    2.0
    """

    _function = staticmethod(F.nll_loss)

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", name=None):
        super().__init__(weight=weight, ignore_index=ignore_index, reduction=reduction)


class BCELoss(_Loss):
    """-label * log(input) - (1 - label) * log(1 - input) of probabilities, as a layer: the mean, the sum or each ('none').

    >>> print(nn.BCELoss()(paddle.to_tensor([0.5]), paddle.to_tensor([1.0])).numpy())
    0.6931472
    """

    _function = staticmethod(F.binary_cross_entropy)

    def __init__(self, weight=None, reduction="mean", name=None):
        super().__init__(weight=weight, reduction=reduction)


class BCEWithLogitsLoss(_Loss):
    """BCELoss of sigmoid(logit), without overflow, as a layer: the mean, the sum or each ('none').

    pos_weight weighs the positive part.

    >>> print(nn.BCEWithLogitsLoss()(paddle.to_tensor([0.0]), paddle.to_tensor([1.0])).numpy())
    0.6931472
    """

    _function = staticmethod(F.binary_cross_entropy_with_logits)

    def __init__(self, weight=None, reduction="mean", pos_weight=None, name=None):
        super().__init__(weight=weight, reduction=reduction, pos_weight=pos_weight)


class KLDivLoss(_Loss):
    """label * (log(label) - input), where the input holds logarithms, as a layer: the mean, the sum or each ('none').

    'batchmean' is the sum by the batch's size; log_target: the label holds logarithms too.

    >>> print(nn.KLDivLoss()(paddle.to_tensor([[0.0]]), paddle.to_tensor([[0.5]])).numpy())
    -0.3465736
    """

    _function = staticmethod(F.kl_div)

    def __init__(self, reduction="mean", log_target=False, name=None):
        super().__init__(reduction=reduction, log_target=log_target)


class MarginRankingLoss(_Loss):
    """max(-label * (input - other) + margin, 0), where a label of 1 wants the input above the other, as a layer: the mean, the sum or each ('none').

    >>> print(nn.MarginRankingLoss()(paddle.to_tensor([1.0]), paddle.to_tensor([3.0]), paddle.to_tensor([1.0])).numpy())
    2.0
    """

    _function = staticmethod(F.margin_ranking_loss)

    def __init__(self, margin=0.0, reduction="mean", name=None):
        super().__init__(margin=margin, reduction=reduction)


class HingeEmbeddingLoss(_Loss):
    """The input where the label is 1, and max(margin - input, 0) where it is -1, as a layer: the mean, the sum or each ('none').

    >>> print(nn.HingeEmbeddingLoss()(paddle.to_tensor([0.25]), paddle.to_tensor([-1.0])).numpy())
    0.75
    """

    _function = staticmethod(F.hinge_embedding_loss)

    def __init__(self, margin=1.0, reduction="mean", name=None):
        super().__init__(margin=margin, reduction=reduction)


class CosineEmbeddingLoss(_Loss):
    """1 - the cosine of the inputs' angle where the label is 1, and max(cosine - margin, 0) where it is -1, as a layer: the mean, the sum or each ('none').

    >>> print(nn.CosineEmbeddingLoss()(paddle.to_tensor([[1.0, 0.0]]), paddle.to_tensor([[0.0, 2.0]]), paddle.to_tensor([1.0])).numpy())
    1.0
    """

    _function = staticmethod(F.cosine_embedding_loss)

    def __init__(self, margin=0, reduction="mean", name=None):
        super().__init__(margin=margin, reduction=reduction)


class TripletMarginLoss(_Loss):
    """max(distance to the positive - distance to the negative + margin, 0), by the p-norm, as a layer: the mean, the sum or each ('none').

    swap takes the nearer of input and positive to the negative.

    >>> print(nn.TripletMarginLoss()(paddle.zeros([1, 1]), paddle.zeros([1, 1]), paddle.full([1, 1], 0.5)).numpy())
    0.50000197
    """

    _function = staticmethod(F.triplet_margin_loss)

    def __init__(self, margin=1.0, p=2.0, epsilon=1e-06, swap=False, reduction="mean", name=None):
        super().__init__(margin=margin, p=p, epsilon=epsilon, swap=swap, reduction=reduction)


class SoftMarginLoss(_Loss):
    """log(1 + exp(-label * input)), labels 1 and -1, as a layer: the mean, the sum or each ('none').

    >>> print(nn.SoftMarginLoss()(paddle.to_tensor([0.0]), paddle.to_tensor([1.0])).numpy())
    0.6931472
    """

    _function = staticmethod(F.soft_margin_loss)

    def __init__(self, reduction="mean", name=None):
        super().__init__(reduction=reduction)


class CTCLoss(_Loss):
    """The loss of aligning sequences of logits, [time, batch, classes], with their labels, as a layer: the mean, the sum or each ('none').

    Called with (logits, labels, lengths of the inputs, lengths of the labels).

    >>> print(nn.CTCLoss()(paddle.zeros([2, 1, 2]), paddle.to_tensor([[1]]), paddle.to_tensor([2]), paddle.to_tensor([1])).numpy())
    0.2876821
    """

    _function = staticmethod(F.ctc_loss)

    def __init__(self, blank=0, reduction="mean", name=None):
        super().__init__(blank=blank, reduction=reduction)


class GaussianNLLLoss(_Loss):
    """-log of the density of the label under normal distributions, as a layer: the mean, the sum or each ('none').

    Called with (mean, label, variance). full adds the constant part.

    >>> print(nn.GaussianNLLLoss()(paddle.to_tensor([1.0]), paddle.to_tensor([3.0]), paddle.to_tensor([1.0])).numpy())
    2.0
    """

    _function = staticmethod(F.gaussian_nll_loss)

    def __init__(self, full=False, epsilon=1e-06, reduction="mean", name=None):
        super().__init__(full=full, epsilon=epsilon, reduction=reduction)


class PoissonNLLLoss(_Loss):
    """-log of the probability of the label under Poisson distributions, as a layer: the mean, the sum or each ('none').

    The input is the mean, or its logarithm where log_input. full adds Stirling's part.

    >>> print(nn.PoissonNLLLoss()(paddle.to_tensor([0.0]), paddle.to_tensor([2.0])).numpy())
    1.0
    """

    _function = staticmethod(F.poisson_nll_loss)

    def __init__(self, log_input=True, full=False, epsilon=1e-08, reduction="mean", name=None):
        super().__init__(log_input=log_input, full=full, epsilon=epsilon, reduction=reduction)


class MultiMarginLoss(_Loss):
    """How far other classes' scores come within `margin` of the label's, to the power p, as a layer: the mean, the sum or each ('none').

    >>> print(nn.MultiMarginLoss()(paddle.to_tensor([[0.5, 1.0]]), paddle.to_tensor([1])).numpy())
    0.25
    """

    _function = staticmethod(F.multi_margin_loss)

    def __init__(self, p=1, margin=1.0, weight=None, reduction="mean", name=None):
        super().__init__(p=p, margin=margin, weight=weight, reduction=reduction)


class MultiLabelSoftMarginLoss(_Loss):
    """The mean over classes of the logistic loss of each, as a layer: the mean, the sum or each ('none').

    The label has 1 for every class that a row is of.

    >>> print(nn.MultiLabelSoftMarginLoss()(paddle.zeros([1, 2]), paddle.to_tensor([[1.0, 0.0]])).numpy())
    0.6931472
    """

    _function = staticmethod(F.multi_label_soft_margin_loss)

    def __init__(self, weight=None, reduction="mean", name=None):
        super().__init__(weight=weight, reduction=reduction)


class TripletMarginWithDistanceLoss(_Loss):
    """TripletMarginLoss by a distance of one's own, a function of two Tensors; None is Euclid's, as a layer: the mean, the sum or each ('none').

    >>> print(nn.TripletMarginWithDistanceLoss()(paddle.zeros([1, 1]), paddle.full([1, 1], 1.0), paddle.full([1, 1], 1.5)).numpy())
    0.49999994
    """

    _function = staticmethod(F.triplet_margin_with_distance_loss)

    def __init__(self, distance_function=None, margin=1.0, swap=False, reduction="mean", name=None):
        super().__init__(distance_function=distance_function, margin=margin, swap=swap, reduction=reduction)
