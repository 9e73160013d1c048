"""Indices of torch tensors with slices of negative steps, which torch does not take: the axis is turned round first."""

import torch

__all__ = ["picked", "write"]


def _axes_taken(part):
    """How many axes a part of an index stands for."""
    if part is None or isinstance(part, bool):
        return 0
    return part.dim() if isinstance(part, torch.Tensor) and part.dtype == torch.bool else 1


def _runs_backward(part):
    return isinstance(part, slice) and part.step is not None and part.step < 0


def _turned(part, size):
    """A slice that takes, of an axis turned round, what `part` takes of the axis."""
    if part.start is None and part.stop is None:
        return slice(None, None, -part.step)
    first, last, step = part.indices(int(size))
    start = int(size) - 1 - first
    return slice(start, max(int(size) - 1 - last, start), -step)


def _forward(index, sizes):
    """(an index without negative steps, which torch does not take; the axes to turn round before it is used)."""
    parts = list(index) if isinstance(index, tuple) else [index]
    if not any(map(_runs_backward, parts)):
        return index, []
    taken = sum(_axes_taken(part) for part in parts if part is not Ellipsis)
    turned, axis = [], 0
    for at, part in enumerate(parts):
        if part is Ellipsis:
            axis += len(sizes) - taken
            continue
        if _runs_backward(part) and axis < len(sizes):
            parts[at] = _turned(part, sizes[axis])
            turned.append(axis)
        axis += _axes_taken(part)
    return tuple(parts), turned


def picked(source, index):
    """source[index] of a torch tensor, whose slices may run backward."""
    index, turned = _forward(index, source.shape)
    return (source.flip(turned) if turned else source)[index]


def write(target, index, value):
    """target[index] = value, whose slices may run backward."""
    index, turned = _forward(index, target.shape)
    if not turned:
        target[index] = value
        return
    changed = target.flip(turned)
    changed[index] = value
    target.copy_(changed.flip(turned))
