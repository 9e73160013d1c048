"""Variables to feed."""
from argosy import _core

__all__ = ["data"]


def declare(name, shape, dtype, lod_level, stop_gradient=True):
    """A variable of the main program that a run is fed with."""
    block = _core.default_main_program().global_block()
    return block.create_var(name=name, shape=shape, dtype=dtype, lod_level=lod_level, stop_gradient=stop_gradient, is_data=True)


def data(name, shape, append_batch_size=True, dtype="float32", lod_level=0, type=None, stop_gradient=True):
    """A variable to feed. Its shape gets -1 in front, for the batch, unless it has a -1 or append_batch_size is False."""
    shape = [-1 if size is None else size for size in shape]
    if append_batch_size and all(size >= 0 for size in shape):
        shape = [-1, *shape]
    return declare(name, shape, dtype, lod_level, stop_gradient)
