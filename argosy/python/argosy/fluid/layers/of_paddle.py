"""Functions of fluid.layers that are those of paddle and paddle.nn.functional, under 1.8's names and with its arguments."""

import importlib

from argosy import _core
from argosy import device as places
from argosy.errors import InvalidArgumentError, UnimplementedError

__all__ = """
    addmm allclose arange brelu clamp cross diag diag_embed dice_loss dist elementwise_equal eye flip fsp_matrix full full_like gather_tree
    hard_shrink index_sample index_select is_empty kron log1p logsumexp maxout meshgrid mish multiplex nonzero npair_loss pixel_shuffle
    randint randn randperm rank roll scatter_nd scatter_nd_add selu shard_index shuffle_channel soft_relu softshrink stanh t
    teacher_student_sigmoid_loss temporal_shift thresholded_relu trace tril triu unfold
""".split()  # pyright: ignore[reportUnsupportedDunderAll]

_EXAMPLE = """

    >>> x = fluid.data("x", [2, 4])
    >>> y = fluid.layers.{}({})
    """


def _paddle():
    return importlib.import_module("argosy")


def _layers():
    return importlib.import_module("argosy.fluid.layers")


# 1.8's name -> where the same function is, and 1.8's names of arguments, in its order, as names of 2.x,
# "" for what _made itself honours or refuses; and the arguments of an example.
_SAME = {
    "addmm": ("", "input=input x=x y=y alpha=alpha beta=beta name=name", 'fluid.data("a", [2, 2]), x, fluid.data("b", [4, 2]), alpha=2.0'),
    "allclose": ("", "input=x other=y rtol=rtol atol=atol equal_nan=equal_nan name=name", "x, x"),
    "arange": ("", "start=start end=end step=step dtype=dtype name=name", "0, 6, 2"),
    "cross": ("", "input=x other=y dim=axis", 'fluid.data("a", [2, 3]), fluid.data("b", [2, 3])'),
    "diag": ("", "diagonal=x", 'fluid.data("a", [3])'),
    "diag_embed": ("", "input=input offset=offset dim1=dim1 dim2=dim2", "x"),
    "dist": ("", "x=x y=y p=p", "x, x, p=1"),
    "elementwise_equal": ("equal", "x=x y=y name=name", "x, x"),
    "flip": ("", "input=x dims=axis name=name", "x, dims=[0]"),
    "full": ("", "shape=shape fill_value=fill_value out= dtype=dtype device= stop_gradient= name=name", "[2, 3], 1.5"),
    "full_like": ("", "input=x fill_value=fill_value out= dtype=dtype device= stop_gradient= name=name", "x, 2.0"),
    "index_sample": ("", "x=x index=index", 'x, fluid.data("i", [2, 3], "int64")'),
    "index_select": ("", "input=x index=index dim=axis", 'x, fluid.data("i", [3], "int64"), dim=1'),
    "is_empty": ("", "x=x", "x"),
    "kron": ("", "x=x y=y out= name=name", "x, x"),
    "log1p": ("", "x=x out= name=name", "x"),
    "logsumexp": ("", "x=x dim=axis keepdim=keepdim out= name=name", "x, dim=1"),
    "multiplex": ("", "inputs=inputs index=index", '[x, x], fluid.data("i", [2, 1], "int32")'),
    "nonzero": ("", "input=x as_tuple=as_tuple", "x"),
    "randint": ("", "low=low high=high shape=shape out= dtype=dtype device= stop_gradient= name=name", "0, 5, [3]"),
    "randn": ("", "shape=shape out= dtype=dtype device= stop_gradient= name=name", "[3, 2]"),
    "rank": ("", "input=input", "x"),
    "roll": ("", "input=x shifts=shifts dims=axis", "x, 1, dims=1"),
    "scatter_nd": ("", "index=index updates=updates shape=shape name=name", 'fluid.data("i", [3, 1], "int64"), fluid.data("u", [3]), [5]'),
    "scatter_nd_add": ("", "ref=x index=index updates=updates name=name", 'x, fluid.data("i", [3, 1], "int64"), fluid.data("u", [3, 4])'),
    "shard_index": (
        "",
        "input=input index_num=index_num nshards=nshards shard_id=shard_id ignore_value=ignore_value",
        'fluid.data("i", [2, 1], "int64"), 20, 2, 0',
    ),
    "stanh": ("", "x=x scale_a=scale_a scale_b=scale_b name=name", "x"),
    "t": ("", "input=input name=name", "x"),
    "trace": ("", "input=x offset=offset dim1=axis1 dim2=axis2 out=", "x"),
    "tril": ("", "input=x diagonal=diagonal name=name", "x"),
    "triu": ("", "input=x diagonal=diagonal name=name", "x"),
    "dice_loss": ("nn.functional.", "input=input label=label epsilon=epsilon", 'fluid.layers.softmax(x), fluid.data("label", [2, 1], "int64")'),
    "gather_tree": ("nn.functional.", "ids=ids parents=parents", 'fluid.data("a", [3, 2, 2], "int64"), fluid.data("b", [3, 2, 2], "int64")'),
    "hard_shrink": ("nn.functional.hardshrink", "x=x threshold=threshold", "x"),
    "maxout": ("nn.functional.", "x=x groups=groups name=name axis=axis", 'fluid.data("m", [2, 4, 2, 2]), groups=2'),
    "npair_loss": ("nn.functional.", "anchor=anchor positive=positive labels=labels l2_reg=l2_reg", 'x, x, fluid.data("label", [2])'),
    "pixel_shuffle": ("nn.functional.", "x=x upscale_factor=upscale_factor", 'fluid.data("m", [2, 4, 2, 2]), 2'),
    "selu": ("nn.functional.", "x=x scale=scale alpha=alpha name=name", "x"),
    "softshrink": ("nn.functional.", "x=x alpha=threshold", "x, alpha=0.5"),
    "temporal_shift": ("nn.functional.", "x=x seg_num=seg_num shift_ratio=shift_ratio name=name", 'fluid.data("m", [2, 4, 2, 2]), seg_num=2'),
    "thresholded_relu": ("nn.functional.", "x=x threshold=threshold", "x"),
    "unfold": (
        "nn.functional.",
        "x=x kernel_sizes=kernel_sizes strides=strides paddings=paddings dilations=dilations name=name",
        'fluid.data("m", [2, 4, 4, 4]), [2, 2]',
    ),
}


def _refuse(name, out=None, device=None, **others):
    """Raises for what a function of 1.8 cannot be told here."""
    if out is not None:
        raise TypeError(f"{name}(): out is not there; fluid.layers.assign(value, output=variable) writes to one")
    if device not in (None, "cpu", "gpu"):
        raise InvalidArgumentError(f"{name}(): device is 'cpu', 'gpu' or None; found {device!r}")
    computes = str(places.get_device()).partition(":")[0]
    if device not in (None, computes):
        raise UnimplementedError(
            f"{name}(): device={device!r}: an operator computes where its Executor does, which is the {computes.upper()} here; leave device out, and "
            "give the Executor its place"
        )


def _stopped(made, stop_gradient):
    if stop_gradient is not None:
        made.stop_gradient = bool(stop_gradient)
    return made


def _made(name, place, arguments, example):
    """The function of 1.8 that calls the one of 2.x."""
    pairs = dict(pair.split("=") for pair in arguments.split())
    path = f"{place}{name}" if not place or place.endswith(".") else place
    module, _, found = f"argosy.{path}".rpartition(".")

    def function(*args, **kwargs):
        if len(args) > len(pairs) or not set(kwargs) <= {*pairs, "name"}:
            raise TypeError(f"{name}() takes {', '.join(pairs)}; found {len(args)} arguments in order, and {sorted(kwargs)}")
        given = {**dict(zip(pairs, args)), **kwargs}
        _refuse(name, **given)
        named = {pairs.get(key, key): value for key, value in given.items() if pairs.get(key, key) and not (key == "name" and value is None)}
        made = getattr(importlib.import_module(module), found)(**named)
        return _stopped(made, given.get("stop_gradient"))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`paddle.{path}`, with 1.8's names of arguments: {', '.join(pairs)}.{_EXAMPLE.format(name, example)}"
    return function


globals().update({name: _made(name, *what) for name, what in _SAME.items()})


def mish(x, threshold=20, name=None):
    """x * tanh(log(1 + exp(x))) of each element. The logarithm is taken as x above threshold, and as exp(x) below -threshold.

    >>> y = fluid.layers.mish(fluid.data("x", [None, 2]))
    """
    paddle, functional, bound = _paddle(), importlib.import_module("argosy.nn.functional"), float(threshold)
    if bound == 20.0:
        return functional.mish(x, name=name)
    below = paddle.exp(paddle.clip(x, max=0.0))
    return x * paddle.tanh(paddle.where(x < -bound, below, functional.softplus(x, threshold=bound)))


def randperm(n, out=None, dtype="int64", device=None, stop_gradient=True, seed=0):
    """The numbers from 0 to n - 1 in a drawn order; the same each time with a seed.

    >>> y = fluid.layers.randperm(10)
    """
    _refuse("randperm", out, device)
    layers = _layers()
    drawn = layers.uniform_random([n], "float32", 0.0, 1.0, seed)
    return _stopped(layers.cast(layers.argsort(drawn)[1], dtype), stop_gradient)


def eye(num_rows, num_columns=None, batch_shape=None, dtype="float32"):
    """Ones on the diagonal, [num_rows, num_columns], for each place of batch_shape.

    >>> found = fluid.layers.eye(2, 3, batch_shape=[4])
    """
    found = _paddle().eye(num_rows, num_columns, dtype=dtype)
    for size in reversed(batch_shape or []):
        found = _layers().stack([found] * size)
    return found


def meshgrid(input, name=None):
    """The vectors of a list, each along an axis of its own, and all as large as all of them together.

    >>> [one.shape for one in fluid.layers.meshgrid([fluid.data("x", [3]), fluid.data("y", [2])])]
    [(3, 2), (3, 2)]
    """
    return _paddle().meshgrid(input)


def clamp(input, min=None, max=None, output=None, name=None):
    """Each element, no less than min and no more than max.

    >>> y = fluid.layers.clamp(fluid.data("x", [None, 2]), 0.0, 1.0)
    """
    found = _paddle().clip(input, min, max)
    return found if output is None else _layers().assign(found, output=output)


def brelu(x, t_min=0.0, t_max=24.0, name=None):
    """Each element, no less than t_min and no more than t_max.

    >>> y = fluid.layers.brelu(fluid.data("x", [None, 2]))
    """
    return _paddle().clip(x, float(t_min), float(t_max))


def soft_relu(x, threshold=40.0, name=None):
    """log(1 + exp(x)) of each element, which is taken as no further from 0 than threshold.

    >>> y = fluid.layers.soft_relu(fluid.data("x", [None, 2]))
    """
    return _layers().log(_layers().exp(_paddle().clip(x, -float(threshold), float(threshold))) + 1.0)


def shuffle_channel(x, group, name=None):
    """Images [batch, channels, height, width] whose channels, as `group` rows, are read by columns.

    >>> fluid.layers.shuffle_channel(fluid.data("x", [2, 4, 3, 3]), group=2).shape
    (2, 4, 3, 3)
    """
    layers = _layers()
    rows = layers.reshape(x, [0, group, x.shape[1] // group, x.shape[2] * x.shape[3]])
    return layers.reshape(layers.transpose(rows, [0, 2, 1, 3]), [0, x.shape[1], x.shape[2], x.shape[3]])


def fsp_matrix(x, y):
    """[batch, channels of x, channels of y]: the mean over all places of an image of the product of two channels.

    >>> fluid.layers.fsp_matrix(fluid.data("x", [2, 3, 4, 4]), fluid.data("y", [2, 5, 4, 4])).shape
    (2, 3, 5)
    """
    layers, places = _layers(), x.shape[2] * x.shape[3]
    flat = [layers.reshape(one, [0, one.shape[1], places]) for one in (x, y)]
    return layers.matmul(flat[0], flat[1], transpose_y=True, alpha=1.0 / places)


def teacher_student_sigmoid_loss(input, label, soft_max_up_bound=15.0, soft_max_lower_bound=-15.0):
    """The losses [batch, 1] of logits by a click and a teacher's estimate z of it: the label is -2 (no click, no z), -1 (click, no z), z (no click), or
    1 + z (click). With z the loss is the sum of those by both. The bounds are of what the gradient is computed by, and change no value.

    >>> x, label = fluid.data("x", [None, 1]), fluid.data("label", [None, 1])
    >>> fluid.layers.teacher_student_sigmoid_loss(x, label).shape
    (-1, 1)
    """
    detach = importlib.import_module("argosy.fluid.methods").detach
    label.stop_gradient = True
    inner = _paddle().clip(input, float(soft_max_lower_bound), float(soft_max_up_bound))
    loss = _taught_loss(inner, label)
    return loss + detach(_taught_loss(input, label) - loss)


def _taught_loss(x, label):
    layers, dtype = _layers(), _core.dtype_name(x.dtype)
    none, zero, one = (layers.fill_constant([1], dtype, value) for value in (-1.0, 0.0, 1.0))
    only_click = layers.logical_and(layers.greater_equal(label, none), layers.less_than(label, zero))
    clicked = layers.cast(layers.logical_or(only_click, layers.greater_equal(label, one)), dtype)
    taught = layers.cast(layers.greater_equal(label, zero), dtype)
    log = layers.logsigmoid(x * -1.0) * -1.0
    return log - x * clicked + (log - x * (label - clicked)) * taught
