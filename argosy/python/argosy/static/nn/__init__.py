"""paddle.static.nn: fluid's layers, with 2.x's names of arguments where they differ."""

import importlib

from argosy.errors import InvalidArgumentError
from argosy.fluid import layers

_OWN = ("fc", "embedding", "sparse_embedding")
_SHARED = frozenset(
    [
        "batch_norm",
        "conv2d",
        "layer_norm",
        "nce",
        "continuous_value_model",
        "create_parameter",
        "cond",
        "while_loop",
        "case",
        "switch_case",
        "conv2d_transpose",
        "bilinear_tensor_product",
        "conv3d",
        "group_norm",
        "instance_norm",
        "prelu",
        *(name for name in layers.__all__ if name.startswith("sequence_")),
    ]
)
__all__ = sorted({*_OWN, *_SHARED})  # pyright: ignore[reportUnsupportedDunderAll]

_OTHER_TABLES = {
    "SSDSparseTable": "cold rows of any table go to disk where the servers have a mem_limit: leave table_class out, and set mem_limit in the strategy's "
    "settings or ARGOSY_MEM_LIMIT for the servers",
    "MemorySparseGeoTable": "a job's strategy makes it geo: leave table_class out, and set a_sync=True and k_steps above 0 in a_sync_configs",
}


def fc(x, size, num_flatten_dims=1, weight_attr=None, bias_attr=None, activation=None, name=None):
    """activation(sum of x @ weights + bias); x is a variable or a list of them, of which the axes from num_flatten_dims on are one.

    >>> paddle.static.nn.fc(paddle.static.data("x", [None, 3]), 2, activation="relu").shape
    (-1, 2)
    """
    return layers.fc(x, size, num_flatten_dims=num_flatten_dims, param_attr=weight_attr, bias_attr=bias_attr, act=activation, name=name)


def embedding(input, size, is_sparse=False, is_distributed=False, padding_idx=None, param_attr=None, dtype="float32"):
    """Rows of a table by id; the ids keep all their dimensions.

    >>> paddle.static.nn.embedding(paddle.static.data("ids", [None, 4], "int64"), [100, 8]).shape
    (-1, 4, 8)
    """
    return layers.embedding_v2(input, size, is_sparse=is_sparse, is_distributed=is_distributed, padding_idx=padding_idx, param_attr=param_attr, dtype=dtype)


def sparse_embedding(input, size, padding_idx=None, is_test=False, entry=None, table_class="MemorySparseTable", param_attr=None, dtype="float32", slot=None):
    """A table on the parameter servers, rows of size[1] by id. `entry` says which new keys they admit.

    >>> ids = paddle.static.data("ids", [None, 1], "int64")
    >>> paddle.static.nn.sparse_embedding(ids, [1000, 8], entry=paddle.distributed.CountFilterEntry(5)).shape
    (-1, 8)
    """
    text = "none" if entry is None else entry if isinstance(entry, str) else entry._to_attr()
    if table_class != "MemorySparseTable":
        advice = _OTHER_TABLES.get(table_class, "did you mean MemorySparseTable?") if isinstance(table_class, str) else "leave it out"
        raise InvalidArgumentError(f"sparse_embedding: table_class is 'MemorySparseTable'; found {table_class!r}; {advice}")
    return layers.sparse_embedding(
        input, size, padding_idx=padding_idx, is_test=is_test, entry=text, table_class=table_class, param_attr=param_attr, dtype=dtype, slot=slot or 0
    )


def __getattr__(name):
    if name == "sequence_lod":
        return importlib.import_module("argosy.static.nn.sequence_lod")
    if name in _SHARED:
        return getattr(layers, name)
    raise AttributeError(f"module 'paddle.static.nn' has no attribute '{name}'")
