"""fluid.data and fluid.embedding, whose shapes are meant as they are given."""
from argosy.fluid.layers import embedding_v2 as embedding
from argosy.fluid.layers.io import declare

__all__ = ["data", "embedding"]


def data(name, shape, dtype="float32", lod_level=0):
    """A variable to feed; -1 or None in the shape is a size that only a run knows."""
    return declare(name, [-1 if size is None else size for size in shape], dtype, lod_level)
