"""Losses. reduction is 'mean', 'sum' or 'none'."""

import torch
from torch.nn import functional

from argosy.dynamic.calls import computes
from argosy.errors import InvalidArgumentError


def check_reduction(reduction):
    if reduction not in ("mean", "sum", "none"):
        raise InvalidArgumentError(f"reduction is 'mean', 'sum' or 'none'; found {reduction!r}")


def reduced(loss, reduction):
    check_reduction(reduction)
    if reduction == "none":
        return loss
    if loss.is_floating_point():
        return loss.mean() if reduction == "mean" else loss.sum()
    return loss.double().mean().to(loss.dtype) if reduction == "mean" else loss.sum()


def _hard(log_probability, label, weight, ignore_index, reduction, axis):
    """Of class numbers; the label may have the class axis, of size 1."""
    axis %= log_probability.dim()
    kept = label.dim() == log_probability.dim()
    if kept and label.shape[axis] != 1:
        raise InvalidArgumentError(
            f"cross_entropy: a label of class numbers has size 1, or no axis, where the input has its classes (axis {axis}); "
            f"found input {list(log_probability.shape)} and label {list(label.shape)}; use soft_label=True for probabilities"
        )
    target = (label.squeeze(axis) if kept else label).long()
    classes = log_probability.movedim(axis, 1) if log_probability.dim() > 1 else log_probability
    loss = functional.nll_loss(classes, target, weight, ignore_index=ignore_index, reduction=reduction)
    return loss.unsqueeze(axis) if kept and reduction == "none" else loss


def _soft(log_probability, label, weight, reduction, axis):
    loss = -(log_probability * label).sum(axis, keepdim=True)
    if weight is None:
        return reduced(loss, reduction)
    shape = [1] * label.dim()
    shape[axis] = -1
    of_sample = (label * weight.reshape(shape)).sum(axis, keepdim=True)
    return (loss * of_sample).sum() / of_sample.sum() if reduction == "mean" else reduced(loss * of_sample, reduction)


@computes
def cross_entropy(input, label, weight=None, ignore_index=-100, reduction="mean", soft_label=False, axis=-1, use_softmax=True, label_smoothing=0.0, name=None):
    check_reduction(reduction)
    log_probability = functional.log_softmax(input, axis) if use_softmax else torch.log(input)
    if label_smoothing and not soft_label:
        target = label.squeeze(axis) if label.dim() == input.dim() else label
        label = functional.one_hot(target.long(), input.shape[axis]).to(input.dtype).movedim(-1, axis)
    if label_smoothing:
        label = label * (1 - label_smoothing) + label_smoothing / input.shape[axis]
    if soft_label or label_smoothing:
        return _soft(log_probability, label, weight, reduction, axis)
    return _hard(log_probability, label, weight, ignore_index, reduction, axis)


@computes
def softmax_with_cross_entropy(logits, label, soft_label=False, ignore_index=-100, numeric_stable_mode=True, return_softmax=False, axis=-1, name=None):
    log_probability = functional.log_softmax(logits, axis)
    if soft_label:
        loss = _soft(log_probability, label, None, "none", axis)
    else:
        loss = _hard(log_probability, label, None, ignore_index, "none", axis)
    if label.dim() < logits.dim():
        loss = loss.unsqueeze(axis)  # the axis of classes stays, as in a label that has it
    return (loss, log_probability.exp()) if return_softmax else loss


@computes
def binary_cross_entropy(input, label, weight=None, reduction="mean", name=None):
    return functional.binary_cross_entropy(input, label, weight, reduction=reduction)


@computes
def binary_cross_entropy_with_logits(logit, label, weight=None, reduction="mean", pos_weight=None, name=None):
    return functional.binary_cross_entropy_with_logits(logit, label, weight, reduction=reduction, pos_weight=pos_weight)


@computes
def square_error_cost(input, label, name=None):
    return (input - label) ** 2


@computes
def mse_loss(input, label, reduction="mean", name=None):
    return reduced((input - label) ** 2, reduction)


@computes
def l1_loss(input, label, reduction="mean", name=None):
    return reduced((input - label).abs(), reduction)


@computes
def smooth_l1_loss(input, label, reduction="mean", delta=1.0, name=None):
    """Half of the squared difference up to `delta`, and linear beyond: the mean, the sum or each ('none').

    >>> F.smooth_l1_loss(paddle.to_tensor([0.5, 3.0]), paddle.to_tensor([0.0, 0.0]), reduction="none").tolist()
    [0.125, 2.5]
    """
    return functional.huber_loss(input, label, reduction=reduction, delta=delta)


@computes
def nll_loss(input, label, weight=None, ignore_index=-100, reduction="mean", name=None):
    """-input at the label, where `input` holds logarithms of probabilities; the mean is weighted by `weight`, a number for each class.

    >>> F.nll_loss(paddle.to_tensor([[-1.0, -2.0]]), paddle.to_tensor([1])).item()
    2.0
    """
    if label.dim() == input.dim() and label.shape[1] == 1:
        label = label.squeeze(1)
    return functional.nll_loss(input, label.long(), weight, ignore_index=ignore_index, reduction=reduction)


@computes
def kl_div(input, label, reduction="mean", log_target=False, name=None):
    """label * (log(label) - input): the mean, the sum, each ('none'), or the sum by the batch's size ('batchmean').

    `input` holds logarithms of probabilities; log_target says that the label does too.

    >>> print(F.kl_div(paddle.to_tensor([[0.0]]), paddle.to_tensor([[0.5]])).numpy())
    -0.3465736
    """
    if log_target:
        loss = label.exp() * (label - input)
    else:
        loss = torch.where(label > 0, label * (torch.log(torch.clamp(label, min=1e-38)) - input), torch.zeros_like(label))
    return loss.sum() / len(input) if reduction == "batchmean" else reduced(loss, reduction)


@computes
def log_loss(input, label, epsilon=1e-4, name=None):
    return -label * torch.log(input + epsilon) - (1 - label) * torch.log(1 - input + epsilon)


@computes
def margin_ranking_loss(input, other, label, margin=0.0, reduction="mean", name=None):
    """max(-label * (input - other) + margin, 0), where a label of 1 wants `input` above `other` and -1 below.

    >>> F.margin_ranking_loss(paddle.to_tensor([1.0]), paddle.to_tensor([3.0]), paddle.to_tensor([1.0])).item()
    2.0
    """
    return functional.margin_ranking_loss(input, other, label, margin, reduction=reduction)


@computes
def hinge_embedding_loss(input, label, margin=1.0, reduction="mean", name=None):
    """`input`, a distance, where the label is 1, and max(margin - input, 0) where it is -1.

    >>> F.hinge_embedding_loss(paddle.to_tensor([0.25, 0.25]), paddle.to_tensor([1.0, -1.0]), reduction="none").tolist()
    [0.25, 0.75]
    """
    zero = torch.zeros((), dtype=input.dtype, device=input.device)
    return reduced(torch.where(label == 1, input, zero) + torch.where(label == -1, (margin - input).clamp(min=0), zero), reduction)


@computes
def cosine_embedding_loss(input1, input2, label, margin=0, reduction="mean", name=None):
    """1 - the cosine of the inputs' angle where the label is 1, and max(cosine - margin, 0) where it is -1.

    >>> x = paddle.to_tensor([[1.0, 0.0]])
    >>> F.cosine_embedding_loss(x, x, paddle.to_tensor([-1.0])).item()
    1.0
    """
    return functional.cosine_embedding_loss(input1, input2, label, margin, reduction=reduction)


@computes
def triplet_margin_loss(input, positive, negative, margin=1.0, p=2.0, epsilon=1e-06, swap=False, reduction="mean", name=None):
    """max(distance to `positive` - distance to `negative` + margin, 0) by the p-norm; swap takes the nearer of input and positive to the negative.

    >>> x, far = paddle.to_tensor([[0.0]]), paddle.to_tensor([[0.5]])
    >>> print(F.triplet_margin_loss(x, x, far).numpy())
    0.50000197
    """
    return functional.triplet_margin_loss(input, positive, negative, margin, p, epsilon, swap, reduction=reduction)


@computes
def soft_margin_loss(input, label, reduction="mean", name=None):
    """log(1 + exp(-label * input)), labels 1 and -1: the mean, the sum or each ('none').

    >>> print(F.soft_margin_loss(paddle.to_tensor([0.0]), paddle.to_tensor([1.0])).numpy())
    0.6931472
    """
    return functional.soft_margin_loss(input, label, reduction=reduction)


@computes
def ctc_loss(log_probs, labels, input_lengths, label_lengths, blank=0, reduction="mean", norm_by_times=False, name=None):
    """The loss of aligning sequences with their labels, by connectionist temporal classification.

    `log_probs` are logits of [time, batch, classes]. The mean is of each sequence's loss by its label's length.

    >>> lengths = paddle.to_tensor([2]), paddle.to_tensor([1])
    >>> print(F.ctc_loss(paddle.zeros([2, 1, 2]), paddle.to_tensor([[1]]), *lengths).numpy())
    0.2876821
    """
    if norm_by_times:
        raise InvalidArgumentError("ctc_loss: norm_by_times is not there")
    scores = functional.log_softmax(log_probs, -1)
    return functional.ctc_loss(scores, labels.long(), input_lengths.long(), label_lengths.long(), blank, reduction)


@computes
def sigmoid_focal_loss(logit, label, normalizer=None, alpha=0.25, gamma=2.0, reduction="sum", name=None):
    """binary_cross_entropy_with_logits with little weight on what is right already: (1 - p) ** gamma, and alpha for the label 1.

    >>> print(F.sigmoid_focal_loss(paddle.to_tensor([0.0]), paddle.to_tensor([1.0])).numpy())
    0.0433217
    """
    chance = torch.sigmoid(logit)
    loss = functional.binary_cross_entropy_with_logits(logit, label, reduction="none")
    right = chance * label + (1 - chance) * (1 - label)
    loss = (alpha * label + (1 - alpha) * (1 - label)) * (1 - right) ** gamma * loss
    return reduced(loss if normalizer is None else loss / normalizer, reduction)


@computes
def dice_loss(input, label, epsilon=0.00001, name=None):
    """1 - 2 * common area / sum of areas, a mean over the batch; the label has class numbers, with a last axis of size 1.

    >>> print(F.dice_loss(paddle.to_tensor([[1.0, 0.0]]), paddle.to_tensor([[0]])).numpy().round(3))
    0.0
    """
    if input.dim() != label.dim() or label.shape != (*input.shape[:-1], 1):
        raise InvalidArgumentError(
            f"dice_loss: the label has the input's shape with 1 as the last size; found input {list(input.shape)} and label {list(label.shape)}"
        )
    areas = functional.one_hot(label.squeeze(-1).long(), input.shape[-1]).to(input.dtype)
    axes = tuple(range(1, input.dim()))
    return (1 - 2 * (input * areas).sum(axes) / (input.sum(axes) + areas.sum(axes) + epsilon)).mean()
