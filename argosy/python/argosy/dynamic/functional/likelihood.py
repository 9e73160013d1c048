"""Losses that are the negative logarithm of a likelihood."""

import math

import torch

from argosy.dynamic.calls import computes
from argosy.dynamic.functional.loss import reduced
from argosy.errors import InvalidArgumentError


def _variance_like(input, variance):
    """The variance with the axes of the input; it may lack the last one, or have it with size 1."""
    if variance.shape == input.shape or variance.shape == (*input.shape[:-1], 1):
        return variance
    if variance.shape == input.shape[:-1]:
        return variance.unsqueeze(-1)
    raise InvalidArgumentError(
        f"gaussian_nll_loss: the variance has the input's shape {list(input.shape)}, or that without its last size, or with 1 "
        f"there; found {list(variance.shape)}"
    )


@computes
def gaussian_nll_loss(input, label, variance, full=False, epsilon=1e-6, reduction="mean", name=None):
    """-log of the density of `label` under normal distributions with mean `input`: the mean, the sum or each ('none').

    The variance is `epsilon` at least, and takes no gradient, as in 2.6.2. full adds the constant part.

    >>> F.gaussian_nll_loss(paddle.to_tensor([1.0]), paddle.to_tensor([3.0]), paddle.to_tensor([1.0])).item()
    2.0
    """
    for name, given in (("input", input), ("label", label), ("variance", variance)):
        if given.dtype not in (torch.float32, torch.float64):
            raise InvalidArgumentError(f"gaussian_nll_loss: {name} is float32 or float64; found {given.dtype}")
    spread = _variance_like(input, variance)
    if bool((spread < 0).any()):
        raise InvalidArgumentError(f"gaussian_nll_loss: a variance is 0 or more; found {spread.min().item()}")
    spread = spread.detach().clamp(min=epsilon)
    loss = 0.5 * (spread.log() + (input - label) ** 2 / spread)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


@computes
def poisson_nll_loss(input, label, log_input=True, full=False, epsilon=1e-8, reduction="mean", name=None):
    """-log of the probability of `label` under Poisson distributions whose mean is `input`, or exp(input) where log_input.

    full adds Stirling's part for labels above 1.

    >>> F.poisson_nll_loss(paddle.to_tensor([0.0]), paddle.to_tensor([2.0])).item()
    1.0
    """
    if epsilon <= 0:
        raise InvalidArgumentError(f"poisson_nll_loss: epsilon is above 0; found {epsilon}")
    if input.shape != label.shape:
        raise InvalidArgumentError(f"poisson_nll_loss: input and label have one shape; found {list(input.shape)} and {list(label.shape)}")
    label = label.to(input.dtype)
    loss = input.exp() - label * input if log_input else input - label * torch.log(input + epsilon)
    if full:
        many = label > 1
        count = torch.where(many, label, torch.ones_like(label))
        loss = loss + many * (count * count.log() - count + 0.5 * torch.log(2 * math.pi * count))
    return reduced(loss, reduction)
