"""Reductions over rows that belong together, and softmax under a mask."""

import torch

from argosy.dynamic.calls import computes
from argosy.errors import InvalidArgumentError

__all__ = ["segment_max", "segment_mean", "segment_min", "segment_sum", "softmax_mask_fuse", "softmax_mask_fuse_upper_triangle"]


def _reduced(data, ids, how):
    """Rows by the segment that ids name, from 0 to the largest; one without rows is 0."""
    if ids.dim() != 1 or len(ids) != len(data):
        raise InvalidArgumentError(f"segment_ids has one number for each row; found shape {list(ids.shape)} for {len(data)} rows")
    if len(ids) and (int(ids[0]) < 0 or bool((ids[1:] < ids[:-1]).any())):
        raise InvalidArgumentError("segment_ids are sorted, from 0 on")
    count = int(ids[-1]) + 1 if len(ids) else 0
    index = ids.long().reshape([-1] + [1] * (data.dim() - 1)).expand_as(data)
    return torch.zeros([count, *data.shape[1:]], dtype=data.dtype, device=data.device).scatter_reduce(0, index, data, how, include_self=False)


@computes
def segment_sum(data, segment_ids, name=None):
    """The sum of the rows of each segment; segment_ids, sorted, says of each row which it belongs to.

    >>> paddle.incubate.segment_sum(paddle.to_tensor([[1.0], [2.0], [4.0]]), paddle.to_tensor([0, 0, 1])).tolist()
    [[3.0], [4.0]]
    """
    return _reduced(data, segment_ids, "sum")


@computes
def segment_mean(data, segment_ids, name=None):
    """The mean of the rows of each segment.

    >>> paddle.incubate.segment_mean(paddle.to_tensor([[1.0], [2.0], [4.0]]), paddle.to_tensor([0, 0, 1])).tolist()
    [[1.5], [4.0]]
    """
    return _reduced(data, segment_ids, "mean")


@computes
def segment_max(data, segment_ids, name=None):
    """The largest values of the rows of each segment.

    >>> paddle.incubate.segment_max(paddle.to_tensor([[1.0], [2.0], [4.0]]), paddle.to_tensor([0, 0, 1])).tolist()
    [[2.0], [4.0]]
    """
    return _reduced(data, segment_ids, "amax")


@computes
def segment_min(data, segment_ids, name=None):
    """The smallest values of the rows of each segment.

    >>> paddle.incubate.segment_min(paddle.to_tensor([[1.0], [2.0], [4.0]]), paddle.to_tensor([0, 0, 1])).tolist()
    [[1.0], [4.0]]
    """
    return _reduced(data, segment_ids, "amin")


@computes
def softmax_mask_fuse(x, mask, name=None):
    """softmax(x + mask) over the last axis.

    >>> paddle.incubate.softmax_mask_fuse(paddle.zeros([1, 1, 1, 2]), paddle.to_tensor([[[[0.0, -1e9]]]])).tolist()
    [[[[1.0, 0.0]]]]
    """
    return torch.softmax(x + mask, -1)


@computes
def softmax_mask_fuse_upper_triangle(x):
    """softmax over the last axis of what lies on and below the diagonal; 0 above.

    >>> paddle.incubate.softmax_mask_fuse_upper_triangle(paddle.zeros([1, 1, 2, 2])).tolist()
    [[[[1.0, 0.0], [0.5, 0.5]]]]
    """
    above = torch.ones(x.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
    return torch.softmax(x.masked_fill(above, float("-inf")), -1)
