"""Normalization."""

from argosy import _core
from argosy import tensor as T
from argosy.building.operators import append, sizes_of
from argosy.errors import InvalidArgumentError
from argosy.fluid import layers
from argosy.fluid.layers import kinds

__all__ = ["batch_norm", "layer_norm", "group_norm", "instance_norm", "local_response_norm"]


def _channel_values(given, value, size):
    """A weight or bias that was left out."""
    return layers.fill_constant([size], "float32", value) if given is None else given


def batch_norm(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.9, epsilon=1e-05, data_format="NCHW", use_global_stats=None, name=None
):
    kinds.require_floats("batch_norm", "x", x)
    behind = data_format.endswith("C") and len(data_format) > 2
    size = running_mean.shape[0]
    inputs = {"X": x, "Scale": _channel_values(weight, 1.0, size), "Bias": _channel_values(bias, 0.0, size), "Mean": running_mean, "Variance": running_var}
    block = _core.default_main_program().current_block()
    prefix = name or _core.unique_name("batch_norm")
    saved = {slot: block.create_var(name=_core.unique_name(f"{prefix}.tmp"), dtype=x.dtype) for slot in ("SavedMean", "SavedVariance")}
    for one in saved.values():
        one.stop_gradient = True
    out = block.create_var(name=_core.unique_name(f"{prefix}.tmp"), dtype=x.dtype)
    block.append_op(
        type="batch_norm",
        inputs=inputs,
        outputs={"Y": out, "MeanOut": running_mean, "VarianceOut": running_var, **saved},
        attrs={
            "momentum": momentum,
            "epsilon": epsilon,
            "is_test": not training,
            "data_layout": "NHWC" if behind else "NCHW",
            "use_global_stats": not training if use_global_stats is None else use_global_stats,
        },
    )
    return out


def layer_norm(x, normalized_shape, weight=None, bias=None, epsilon=1e-05, name=None):
    kinds.require_floats("layer_norm", "x", x)
    axes = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    inputs = {"X": x, **{slot: one for slot, one in (("Scale", weight), ("Bias", bias)) if one is not None}}
    out, *statistics = append(
        "layer_norm", inputs, {"Y": x.dtype, "Mean": x.dtype, "Variance": x.dtype}, {"begin_norm_axis": len(x.shape) - axes, "epsilon": epsilon}, name
    )
    for one in statistics:
        one.stop_gradient = True
    return out


def _by_groups(x, groups, epsilon, weight, bias):
    """[batch, channels, ...]: mean 0 and variance 1 over each group of channels of a sample."""
    sizes = sizes_of(x, range(1, len(x.shape)))
    flat = layers.reshape(x, [0, groups, -1])
    centred = flat - T.mean(flat, 2, True)
    normed = T.reshape(centred * layers.rsqrt(T.mean(layers.square(centred), 2, True) + epsilon), [-1, *sizes])
    channel = [1, x.shape[1]] + [1] * (len(x.shape) - 2)
    normed = normed if weight is None else normed * layers.reshape(weight, channel)
    return normed if bias is None else normed + layers.reshape(bias, channel)


def group_norm(x, num_groups, epsilon=1e-05, weight=None, bias=None, data_format="NCHW", name=None):
    from argosy.building.shapes import moveaxis

    if data_format.endswith("C") and len(data_format) > 2:
        return moveaxis(_by_groups(moveaxis(x, -1, 1), num_groups, epsilon, weight, bias), 1, -1)
    return _by_groups(x, num_groups, epsilon, weight, bias)


def instance_norm(x, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.9, eps=1e-05, data_format="NCHW", name=None):
    if (data_format.endswith("C") and len(data_format) > 2) or not use_input_stats:
        raise InvalidArgumentError(f"instance_norm: use_input_stats is True and channels are in front here; found {use_input_stats}, {data_format!r}")
    return _by_groups(x, x.shape[1], eps, weight, bias)


def local_response_norm(x, size, alpha=1e-4, beta=0.75, k=1.0, data_format="NCHW", name=None):
    if data_format.endswith("C") and len(data_format) > 2:
        raise InvalidArgumentError(f"local_response_norm: channels are in front here; found {data_format!r}")
    rest = [0, 0] * (len(x.shape) - 2)
    padded = layers.pad(layers.square(x), [0, 0, size // 2, (size - 1) // 2, *rest])
    total = layers.sums([layers.slice(padded, [1], [i], [i + x.shape[1]]) for i in range(size)])
    return x / T.pow(total * (alpha / size) + k, beta)
