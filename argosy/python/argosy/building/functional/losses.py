"""Losses. reduction is 'mean', 'sum' or 'none'."""

from argosy import tensor as T
from argosy.building.functional.common import pairwise_distance
from argosy.fluid import layers
from argosy.nn.functional import both_graphs as F
from argosy.nn.functional.both_graphs import reduced

__all__ = [
    "smooth_l1_loss",
    "nll_loss",
    "kl_div",
    "margin_ranking_loss",
    "hinge_embedding_loss",
    "cosine_embedding_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "soft_margin_loss",
    "sigmoid_focal_loss",
    "dice_loss",
    "multi_label_soft_margin_loss",
]


def smooth_l1_loss(input, label, reduction="mean", delta=1.0, name=None):
    return reduced(layers.huber_loss(input, label, delta), reduction)


def nll_loss(input, label, weight=None, ignore_index=-100, reduction="mean", name=None):
    if len(label.shape) == len(input.shape) and label.shape[1] == 1:
        label = layers.squeeze(label, [1])
    if len(input.shape) > 2:
        input = layers.transpose(input, [0, *range(2, len(input.shape)), 1])
    return F.chosen_classes(-input, label, weight, ignore_index, reduction)


def kl_div(input, label, reduction="mean", log_target=False, name=None):
    if log_target:
        loss = T.exp(label) * (label - input)
    else:
        loss = (T.log(T.clip(label, 1e-38, None)) - input) * label * layers.cast(label > 0.0, label.dtype)
    if reduction == "batchmean":
        return T.sum(loss) / layers.cast(layers.slice(layers.shape(input), [0], [0], [1]), loss.dtype)
    return reduced(loss, reduction)


def margin_ranking_loss(input, other, label, margin=0.0, reduction="mean", name=None):
    return reduced(layers.relu((other - input) * label + margin), reduction)


def _by_sign(label, positive, negative):
    """`positive` where the label is 1 and `negative` where it is -1."""
    return positive * layers.cast(label > 0, positive.dtype) + negative * layers.cast(label < 0, negative.dtype)


def hinge_embedding_loss(input, label, margin=1.0, reduction="mean", name=None):
    near, far = (layers.cast(T.equal(label, float(value)), input.dtype) for value in (1, -1))
    return reduced(input * near + layers.relu(margin - input) * far, reduction)


def cosine_embedding_loss(input1, input2, label, margin=0, reduction="mean", name=None):
    cosine = F.cosine_similarity(input1, input2, axis=-1)
    return reduced(_by_sign(label, 1.0 - cosine, layers.relu(cosine - margin)), reduction)


def triplet_margin_loss(input, positive, negative, margin=1.0, p=2.0, epsilon=1e-06, swap=False, reduction="mean", name=None):
    return triplet_margin_with_distance_loss(input, positive, negative, lambda x, y: pairwise_distance(x, y, p, epsilon), margin, swap, reduction)


def triplet_margin_with_distance_loss(input, positive, negative, distance_function=None, margin=1.0, swap=False, reduction="mean", name=None):
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(input, positive), distance(input, negative)
    far = T.minimum(far, distance(positive, negative)) if swap else far
    return reduced(layers.relu(near - far + margin), reduction)


def soft_margin_loss(input, label, reduction="mean", name=None):
    return reduced(layers.softplus(-(input * layers.cast(label, input.dtype))), reduction)


def sigmoid_focal_loss(logit, label, normalizer=None, alpha=0.25, gamma=2.0, reduction="sum", name=None):
    chance = layers.sigmoid(logit)
    loss = layers.sigmoid_cross_entropy_with_logits(logit, label)
    right = chance * label + (1.0 - chance) * (1.0 - label)
    loss = (label * alpha + (1.0 - label) * (1 - alpha)) * T.pow(1.0 - right, gamma) * loss
    return reduced(loss if normalizer is None else loss / normalizer, reduction)


def multi_label_soft_margin_loss(input, label, weight=None, reduction="mean", name=None):
    loss = layers.sigmoid_cross_entropy_with_logits(input, layers.cast(label, input.dtype))
    return reduced(T.mean(loss if weight is None else loss * weight, -1), reduction)


def dice_loss(input, label, epsilon=0.00001, name=None):
    areas = F.one_hot(layers.squeeze(label, [-1]), input.shape[-1])
    axes = list(range(1, len(input.shape)))
    return T.mean(1.0 - T.sum(input * areas, axes) * 2.0 / (T.sum(input, axes) + T.sum(areas, axes) + epsilon))
