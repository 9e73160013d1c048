"""Functions that a script has run in 16 bits, or in 32, inside of amp.auto_cast. The others follow torch's list."""

import contextlib
import threading

import torch

from argosy.errors import InvalidArgumentError

__all__ = ["active", "again", "applied", "lists"]

# Paddle's operators -> the functions that compute them here. Any function may also be called by its own name.
_OPERATORS = {
    "matmul": "matmul mm linear",
    "matmul_v2": "matmul mm linear",
    "mul": "matmul mm linear",
    "rnn": "rnn",
    "elementwise_add": "add",
    "elementwise_sub": "subtract",
    "elementwise_mul": "multiply",
    "elementwise_div": "divide",
    "elementwise_pow": "pow",
    "elementwise_max": "maximum",
    "elementwise_min": "minimum",
    "elementwise_mod": "remainder mod floor_mod",
    "elementwise_floordiv": "floor_divide",
    "reduce_sum": "sum",
    "reduce_mean": "mean",
    "reduce_max": "max amax",
    "reduce_min": "min amin",
    "reduce_prod": "prod",
    "sum": "sum add_n",
    "p_norm": "norm",
    "pnorm": "norm",
    "frobenius_norm": "norm",
    "top_k_v2": "topk",
    "softmax_with_cross_entropy": "softmax_with_cross_entropy cross_entropy",
    "cross_entropy2": "cross_entropy",
    "huber_loss": "smooth_l1_loss",
    "cross_entropy_with_softmax": "softmax_with_cross_entropy cross_entropy",
    "kldiv_loss": "kl_div",
    "bce_loss": "binary_cross_entropy",
    "sigmoid_cross_entropy_with_logits": "binary_cross_entropy_with_logits sigmoid_focal_loss",
    "hierarchical_sigmoid": "hsigmoid_loss",
    "lookup_table": "embedding",
    "lookup_table_v2": "embedding",
    "depthwise_conv2d": "conv2d",
    "grid_sampler": "grid_sample",
    "pool2d": "max_pool2d avg_pool2d adaptive_avg_pool2d adaptive_max_pool2d",
    "max_pool2d_with_index": "max_pool2d adaptive_max_pool2d",
    "pool3d": "max_pool3d avg_pool3d adaptive_avg_pool3d adaptive_max_pool3d",
    "max_pool3d_with_index": "max_pool3d adaptive_max_pool3d",
    "reshape2": "reshape",
    "transpose2": "transpose",
    "squeeze2": "squeeze",
    "unsqueeze2": "unsqueeze",
    "flatten_contiguous_range": "flatten",
    "expand_v2": "expand",
    "hard_swish": "hardswish",
    "hard_sigmoid": "hardsigmoid",
    "hard_shrink": "hardshrink",
    "logsigmoid": "log_sigmoid",
    "tanh_shrink": "tanhshrink",
    "pad3d": "pad",
    **{f"{kind}_interp{suffix}": "interpolate upsample" for kind in ("linear", "nearest", "bilinear", "bicubic", "trilinear") for suffix in ("", "_v2")},
}
_DATA_ONLY = ("batch_norm", "instance_norm")  # the rest of their arguments stays float32: running values are written
_SHORT = (torch.float16, torch.bfloat16)


class _State(threading.local):
    types: dict[str, torch.dtype] | None = None  # {function: the torch type that it runs in}, inside of lists() with any


_state = _State()


def active():
    """Whether this thread is inside of lists that name a function."""
    return _state.types is not None


def _functions(names, which):
    from argosy.dynamic import functional, functions

    known = {*functional._TABLE, *functions._TABLE}
    found = set()
    for name in [names] if isinstance(names, str) else names or ():
        meant = _OPERATORS.get(name, name).split() if isinstance(name, str) else ()
        if not meant or not known.issuperset(set(meant) - {"rnn"}):
            raise InvalidArgumentError(f"auto_cast({which}=…): {name!r} is no operator or function whose type can be chosen here; leave it out")
        found.update(meant)
    return found


@contextlib.contextmanager
def lists(white, black, dtype):
    """Inside, functions of `white` run in `dtype`, those of `black` in float32; names of Paddle's operators, or of the functions themselves."""
    short, long = _functions(white, "custom_white_list"), _functions(black, "custom_black_list")
    both = sorted(short & long)
    if both:
        raise InvalidArgumentError(f"auto_cast: custom_white_list and custom_black_list both name {', '.join(both)}; choose one of them")
    with _with({**dict.fromkeys(short, dtype), **dict.fromkeys(long, torch.float32)} or None):
        yield


@contextlib.contextmanager
def _with(types):
    before, _state.types = _state.types, types
    try:
        yield
    finally:
        _state.types = before


def again():
    """A context in which the lists that are in force now are so once more, also in another thread."""
    return _with(_state.types)


def _cast(value, dtype):
    if isinstance(value, torch.Tensor):
        wanted = (torch.float32,) if dtype in _SHORT else _SHORT
        return value.to(dtype) if value.dtype in wanted else value
    return type(value)(_cast(one, dtype) for one in value) if type(value) in (list, tuple) else value


def applied(name, function, args, kwargs):
    """function(*args, **kwargs) on torch tensors, in the type that the lists say for `name`."""
    dtype = None if _state.types is None else _state.types.get(name)
    if dtype is None:
        return function(*args, **kwargs)
    if name in _DATA_ONLY and args:
        args = [_cast(args[0], dtype), *args[1:]]
    elif name not in _DATA_ONLY:
        args, kwargs = [_cast(one, dtype) for one in args], {key: _cast(one, dtype) for key, one in kwargs.items()}
    with torch.autocast("cuda", enabled=False), torch.autocast("cpu", enabled=False):
        return function(*args, **kwargs)
