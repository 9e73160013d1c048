"""fluid's functions whose shapes are meant as they are given."""

from argosy import _core
from argosy.fluid import layers

__all__ = ["data", "embedding", "one_hot"]

embedding = layers.embedding_v2
one_hot = _core.layers._one_hot_v2


def data(name, shape, dtype="float32", lod_level=0):
    """A variable to feed; -1 or None in the shape is a size that only a run knows.

    >>> fluid.data("x", [None, 3]).shape
    (-1, 3)
    """
    return layers.data(name, shape, append_batch_size=False, dtype=dtype, lod_level=lod_level)
