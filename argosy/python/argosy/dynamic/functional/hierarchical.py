"""A loss over many classes along the path to one of them in a binary tree."""

from typing import Any

import torch
from torch.nn import functional

from argosy.dynamic.calls import computes
from argosy.errors import InvalidArgumentError

_LIMIT = 40.0  # products are taken as no further from 0


def _complete_tree(label, num_classes):
    """(rows of the weight from a leaf up to the root, which side each is left by, which of them are on the path) in a tree without gaps."""
    leaf = label + num_classes
    depth = (num_classes - 1).bit_length()
    bits = torch.arange(depth, device=label.device)
    rows = (leaf >> (bits + 1)) - 1
    return rows, (leaf >> bits) & 1, rows >= 0


def _own_tree(path_table, path_code):
    """The same of paths that are given; one ends at its first row below 0."""
    on_path = (path_table >= 0).long().cumprod(1).bool()
    return path_table, path_code, on_path


def _check(label, num_classes, path_table, path_code):
    if num_classes < 2:
        raise InvalidArgumentError(f"hsigmoid_loss: num_classes is 2 or more; found {num_classes}")
    if (path_table is None) != (path_code is None):
        raise InvalidArgumentError("hsigmoid_loss: path_table and path_code come together, for a tree of one's own; found one of them")
    if path_table is None and label.numel() and not 0 <= int(label.min()) <= int(label.max()) < num_classes:
        raise InvalidArgumentError(f"hsigmoid_loss: labels are 0 to {num_classes - 1}; found {int(label.min())} to {int(label.max())}")


@computes
def hsigmoid_loss(input, label, num_classes, weight, bias=None, path_table: Any = None, path_code: Any = None, is_sparse=False):
    """The sum of the logistic losses of the decisions on the path to each label in a tree of classes, [batch, 1].

    The weight has a row for each inner node. path_table and path_code are the paths of a tree of one's own. A path shorter than the tree is deep
    counts log 2 for each decision that it lacks, as in 2.6.2. is_sparse: the gradient of the weight has the rows of the batch only.

    >>> print(F.hsigmoid_loss(paddle.zeros([1, 3]), paddle.to_tensor([1]), 4, paddle.zeros([3, 3])).numpy())
    [[1.3862944]]
    """
    _check(label, num_classes, path_table, path_code)
    label = label.reshape(-1, 1).long()
    rows, sides, on_path = _complete_tree(label, num_classes) if path_table is None else _own_tree(path_table.long(), path_code.long())
    sample, _ = on_path.nonzero(as_tuple=True)
    chosen = rows[on_path]
    product = (functional.embedding(chosen, weight, sparse=is_sparse) * input[sample]).sum(-1)
    if bias is not None:
        product = product + bias.reshape(-1)[chosen]
    product = product + (product.clamp(-_LIMIT, _LIMIT) - product).detach()  # the gradient goes on beyond the limit
    decisions = torch.zeros(on_path.shape, dtype=input.dtype, device=input.device).masked_scatter(on_path, product)
    return (functional.softplus(decisions, threshold=2 * _LIMIT) - sides.to(input.dtype) * decisions).sum(1, keepdim=True)
