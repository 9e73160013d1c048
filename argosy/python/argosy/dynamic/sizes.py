"""Sizes that a function on tensors is given."""

from typing import Any

import torch

__all__ = ["sizes"]


def _size(value):
    return value if isinstance(value, torch.Tensor) and torch.jit.is_tracing() else int(value)


def sizes(shape) -> list[Any]:
    """The sizes of one number, of a list or of a tensor of them. They are numbers; but while jit.save records a layer, a size that comes from a
    tensor stays a tensor, so that the record follows the sizes of its inputs."""
    if isinstance(shape, torch.Tensor):
        flat = shape.reshape(-1)
        return list(flat.unbind()) if torch.jit.is_tracing() else flat.tolist()
    return [_size(size) for size in shape] if isinstance(shape, (list, tuple)) else [_size(shape)]
