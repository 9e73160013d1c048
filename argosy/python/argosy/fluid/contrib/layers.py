"""Layers that 1.8 had on trial. Those that other layers make up are here; of the rest it says what to use."""

from argosy.errors import InvalidArgumentError
from argosy.fluid import layers
from argosy.static.names import ctr_metric_bundle

__all__ = ["ctr_metric_bundle", "fused_elemwise_activation", "fused_embedding_seq_pool", "partial_concat", "partial_sum"]
_INSTEAD = {
    "shuffle_batch": "paddle.reader.shuffle, or InMemoryDataset.local_shuffle()",
    "search_pyramid_hash": "fluid.layers.hash and fluid.layers.embedding",
    "tdm_child": "a reader that yields the nodes of the tree",
    "tdm_sampler": "a reader that yields the nodes of the tree",
    "rank_attention": "fluid.layers.gather and fluid.layers.matmul",
    "batch_fc": "fluid.layers.matmul of [slots, batch, in] and [slots, in, out]",
    "sequence_topk_avg_pooling": "fluid.layers.sequence_pad and fluid.layers.topk",
    "var_conv_2d": "fluid.layers.conv2d of padded images",
    "match_matrix_tensor": "fluid.layers.sequence_pad and fluid.layers.matmul",
    "tree_conv": "a model of fluid.layers",
    "multiclass_nms2": "the tools of the serving system",
    "BasicLSTMUnit": "paddle.nn.LSTMCell",
    "BasicGRUUnit": "paddle.nn.GRUCell",
    "basic_lstm": "paddle.nn.LSTM",
    "basic_gru": "paddle.nn.GRU",
}


def __getattr__(name):
    if name in _INSTEAD:
        raise AttributeError(f"fluid.contrib.layers.{name} is not here; use {_INSTEAD[name]}")
    raise AttributeError(f"module 'paddle.fluid.contrib.layers' has no attribute '{name}'")


def fused_embedding_seq_pool(input, size, is_sparse=False, padding_idx=None, combiner="sum", param_attr=None, dtype="float32"):
    """The sum of the rows of a table for each sequence of ids.

    >>> ids = fluid.data("ids", [None, 1], "int64", lod_level=1)
    >>> pooled = fluid.contrib.layers.fused_embedding_seq_pool(ids, [100, 8])
    """
    if combiner != "sum":
        raise InvalidArgumentError(f"fused_embedding_seq_pool: combiner is 'sum'; found {combiner!r}; use layers.embedding and layers.sequence_pool")
    rows = layers.embedding(input, size, is_sparse=is_sparse, padding_idx=padding_idx, param_attr=param_attr, dtype=dtype)
    return layers.sequence_pool(rows, "sum")


def fused_elemwise_activation(x, y, functor_list, axis=-1, scale=0.0, save_intermediate_out=True):
    """Of functors ['f', 'g']: f(x, g(y)) where f takes two, and f(g(x, y)) where g does; each is elementwise_add, elementwise_mul, relu, tanh or scale.
    save_intermediate_out is about memory, and changes no value.

    >>> x = fluid.data("x", [None, 2])
    >>> y = fluid.contrib.layers.fused_elemwise_activation(x, x, ["relu", "elementwise_add"])
    """
    names = functor_list.split(",") if isinstance(functor_list, str) else list(functor_list)
    pairs = [name.strip() in ("elementwise_add", "elementwise_mul") for name in names]
    if len(names) != 2 or sum(pairs) != 1:
        raise InvalidArgumentError(f"fused_elemwise_activation: functor_list is one elementwise function and one activation; found {functor_list!r}")

    def one(name, value):
        return layers.scale(value, scale) if name == "scale" else getattr(layers, name)(value)

    first, second = (name.strip() for name in names)
    if pairs[0]:
        return getattr(layers, first)(x, one(second, y), axis=axis)
    return one(first, getattr(layers, second)(x, y, axis=axis))


def _parts(input, start_index, length):
    inputs = list(input) if isinstance(input, (list, tuple)) else [input]
    width = inputs[0].shape[1]
    begin = start_index + width if start_index < 0 else start_index
    end = width if length < 0 else begin + length
    return [layers.slice(one, axes=[1], starts=[begin], ends=[end]) for one in inputs]


def partial_concat(input, start_index=0, length=-1):
    """The columns from start_index on, `length` of them, of each input, side by side.

    >>> x = fluid.data("x", [None, 4])
    >>> fluid.contrib.layers.partial_concat([x, x], 1, 2).shape
    (-1, 4)
    """
    return layers.concat(_parts(input, start_index, length), axis=1)


def partial_sum(input, start_index=0, length=-1):
    """The sum of the columns from start_index on, `length` of them, of all inputs.

    >>> x = fluid.data("x", [None, 4])
    >>> fluid.contrib.layers.partial_sum([x, x], 1, 2).shape
    (-1, 2)
    """
    return layers.sums(_parts(input, start_index, length))
