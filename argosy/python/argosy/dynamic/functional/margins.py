"""Losses that want a distance between scores or samples."""

import torch
from torch.nn import functional

from argosy.dynamic.calls import computes
from argosy.dynamic.functional.loss import check_reduction, reduced
from argosy.dynamic.tensor import unwrap, wrap
from argosy.errors import InvalidArgumentError

_PULL = 0.25  # npair_loss: the share of l2_reg


@computes
def multi_margin_loss(input, label, p=1, margin=1.0, weight=None, reduction="mean", name=None):
    """How far other classes' scores come within `margin` of the label's: the mean over classes of that to the power p.

    >>> F.multi_margin_loss(paddle.to_tensor([[0.5, 1.0]]), paddle.to_tensor([1])).item()
    0.25
    """
    check_reduction(reduction)
    if len(input) != len(label):
        raise InvalidArgumentError(f"multi_margin_loss: a label for each row of the input; found {len(input)} rows and {len(label)} labels")
    if weight is not None and len(weight) != input.shape[1]:
        raise InvalidArgumentError(f"multi_margin_loss: a weight for each of {input.shape[1]} classes; found {len(weight)}")
    label = label.reshape(-1, 1).long()
    of_label = 1.0 if weight is None else weight[label]
    over = (of_label * (margin - input.gather(1, label) + input)).clamp(min=0)
    own = of_label * margin**p / input.shape[1]  # what the label's own class has added
    return reduced((over**p).mean(1) - (own if weight is None else own.reshape(-1)), reduction)


@computes
def multi_label_soft_margin_loss(input, label, weight=None, reduction="mean", name=None):
    """The mean over classes of the logistic loss of each; the label has 1 for every class that a row is of.

    >>> print(F.multi_label_soft_margin_loss(paddle.zeros([1, 2]), paddle.to_tensor([[1.0, 0.0]])).numpy())
    0.6931472
    """
    check_reduction(reduction)
    if input.shape != label.shape:
        raise InvalidArgumentError(f"multi_label_soft_margin_loss: input and label have one shape; found {list(input.shape)} and {list(label.shape)}")
    loss = -(label * functional.logsigmoid(input) + (1 - label) * functional.logsigmoid(-input))
    return reduced((loss if weight is None else loss * weight).mean(-1), reduction)


@computes
def triplet_margin_with_distance_loss(input, positive, negative, distance_function=None, margin=1.0, swap=False, reduction="mean", name=None):
    """triplet_margin_loss by a distance of one's own, a function of two Tensors; None is Euclid's.

    >>> x, near, far = (paddle.to_tensor([[value]]) for value in (0.0, 1.0, 1.5))
    >>> print(F.triplet_margin_with_distance_loss(x, near, far).numpy())
    0.49999994
    """
    check_reduction(reduction)
    if margin < 0:
        raise InvalidArgumentError(f"triplet_margin_with_distance_loss: margin is 0 or more; found {margin}")
    if not input.shape == positive.shape == negative.shape:
        raise InvalidArgumentError(
            "triplet_margin_with_distance_loss: input, positive and negative have one shape; found "
            f"{list(input.shape)}, {list(positive.shape)} and {list(negative.shape)}"
        )

    def distance(one, other):
        if distance_function is None:
            return functional.pairwise_distance(one, other)
        return unwrap(distance_function(wrap(one), wrap(other)))

    near, far = distance(input, positive), distance(input, negative)
    far = torch.minimum(far, distance(positive, negative)) if swap else far
    if not bool((near > 0).all()) or not bool((far > 0).all()):
        raise InvalidArgumentError(
            f"triplet_margin_with_distance_loss: distances are above 0; found {min(near.min().item(), far.min().item())}; look at distance_function"
        )
    return reduced((near - far + margin).clamp(min=0), reduction)


@computes
def npair_loss(anchor, positive, labels, l2_reg=0.002, name=None):
    """Cross entropy of the products of anchors with positives, where equal labels belong together, and a pull of both to 0.

    >>> print(F.npair_loss(paddle.zeros([2, 3]), paddle.zeros([2, 3]), paddle.to_tensor([0.0, 1.0])).numpy())
    0.6931472
    """
    for name, given in (("anchor", anchor), ("positive", positive)):
        if not given.numel():
            raise InvalidArgumentError(f"npair_loss: {name} has no values; found shape {list(given.shape)}")
        if given.dtype not in (torch.float32, torch.float64):
            raise InvalidArgumentError(f"npair_loss: {name} is float32 or float64; found {given.dtype}")
    labels = labels.reshape(-1, 1)
    together = (labels == labels.t()).to(torch.float32)
    together = together / together.sum(1, keepdim=True)
    of_row = -(together * functional.log_softmax(anchor @ positive.t(), 1)).sum(1, keepdim=True)
    lengths = (anchor**2).sum(1).mean() + (positive**2).sum(1).mean()
    return lengths * _PULL * l2_reg + (together * of_row).sum(0).mean()
