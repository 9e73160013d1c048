"""Tensors in lists, tuples and dicts."""

__all__ = ["kept", "leaves", "mapped"]


def mapped(function, *structures):
    """function(one of each structure) in the form of the first one."""
    first = structures[0]
    if isinstance(first, dict):
        return {key: mapped(function, *(one[key] for one in structures)) for key in first}
    if isinstance(first, (list, tuple)):
        parts = [mapped(function, *same) for same in zip(*structures)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    return function(*structures)


def leaves(structure):
    """What is in it, in order."""
    if isinstance(structure, dict):
        structure = list(structure.values())
    return [leaf for part in structure for leaf in leaves(part)] if isinstance(structure, (list, tuple)) else [structure]


def kept(running, old, new):
    """The new state of the sequences that are still running, the old one of the others; running is 1 or 0 for each."""
    from argosy import tensor

    shown = tensor.reshape(running, [-1] + [1] * (len(new.shape) - 1)).astype(new.dtype)
    return new * shown + old * (1 - shown)
