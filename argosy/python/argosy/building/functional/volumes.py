"""Convolutions and pooling of volumes, the way back from pooling, images by coordinates, and losses along paths."""

from typing import Any

from argosy import tensor as T
from argosy.building.functional.images import convolve, numbers, paddings_of
from argosy.building.operators import append
from argosy.building.shapes import moveaxis
from argosy.errors import InvalidArgumentError
from argosy.fluid import layers

__all__ = [
    "conv3d",
    "conv3d_transpose",
    "max_pool3d",
    "avg_pool3d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "affine_grid",
    "grid_sample",
    "temporal_shift",
    "fold",
    "gather_tree",
    "ctc_loss",
    "hsigmoid_loss",
]


def conv3d(x, weight, bias=None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups=1, data_format="NCDHW", name=None):
    return convolve("conv3d", x, weight, bias, stride, padding, dilation, groups, data_format, name)


def conv3d_transpose(
    x,
    weight,
    bias=None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups=1,
    dilation: Any = 1,
    output_size=None,
    data_format="NCDHW",
    name=None,
):
    more = {"output_padding": numbers(output_padding, 3)} if output_size is None else {"output_size": numbers(output_size, 3)}
    return convolve("conv3d_transpose", x, weight, bias, stride, padding, dilation, groups, data_format, name, **more)


def _window(kernel_size, stride, padding) -> tuple[dict[str, Any], str]:
    kernel = numbers(kernel_size, 3)
    widths, algorithm = paddings_of(padding, 3)
    return {"ksize": kernel, "strides": kernel if stride is None else numbers(stride, 3), "paddings": widths}, algorithm


def max_pool3d(x, kernel_size, stride=None, padding: Any = 0, return_mask=False, ceil_mode=False, data_format="NCDHW", name=None):
    attrs, algorithm = _window(kernel_size, stride, padding)
    if return_mask:
        if data_format != "NCDHW" or algorithm != "EXPLICIT" or ceil_mode:
            raise InvalidArgumentError("max_pool3d: return_mask is for NCDHW, paddings in numbers, and no ceil_mode")
        return append("max_pool3d_with_index", {"X": x}, {"Out": x.dtype, "Mask": "int32"}, attrs, name)
    attrs.update(pooling_type="max", ceil_mode=ceil_mode, padding_algorithm=algorithm, data_format=data_format)
    return append("pool3d", {"X": x}, {"Out": x.dtype}, attrs, name)[0]


def avg_pool3d(x, kernel_size, stride=None, padding: Any = 0, ceil_mode=False, exclusive=True, divisor_override: Any = None, data_format="NCDHW", name=None):
    attrs, algorithm = _window(kernel_size, stride, padding)
    exclusive = exclusive and divisor_override is None
    attrs.update(pooling_type="avg", ceil_mode=ceil_mode, exclusive=exclusive, padding_algorithm=algorithm, data_format=data_format)
    (found,) = append("pool3d", {"X": x}, {"Out": x.dtype}, attrs, name)
    if divisor_override is None:
        return found
    depth, height, width = attrs["ksize"]
    return found * (depth * height * width / divisor_override)


def _whole(x, output_size, first=2):
    sizes = [output_size] * 3 if isinstance(output_size, int) or output_size is None else list(output_size)
    return [x.shape[first + i] if size is None else int(size) for i, size in enumerate(sizes)]


def adaptive_avg_pool3d(x, output_size, data_format="NCDHW", name=None):
    sizes = _whole(x, output_size, 1 if data_format == "NDHWC" else 2)
    return append("pool3d", {"X": x}, {"Out": x.dtype}, {"ksize": sizes, "pooling_type": "avg", "adaptive": True, "data_format": data_format}, name)[0]


def adaptive_max_pool3d(x, output_size, return_mask=False, name=None):
    attrs = {"ksize": _whole(x, output_size), "adaptive": True}
    found = append("max_pool3d_with_index", {"X": x}, {"Out": x.dtype, "Mask": "int32"}, attrs, name)
    return found if return_mask else found[0]


def _unpooled(op, axes, x, indices, window, output_size, name):
    kernel_size, stride, padding = window
    kernel = numbers(kernel_size, axes)
    stride = kernel if stride is None else numbers(stride, axes)
    widths = numbers(padding, axes)
    smallest = [(size - 1) * s + k - 2 * w for size, s, k, w in zip(x.shape[2:], stride, kernel, widths)]
    size = smallest if output_size is None else [int(one) for one in output_size][-axes:]
    if min(x.shape[2:]) < 0 and output_size is None:
        raise InvalidArgumentError(f"max_unpool{axes}d: '{x.name}' has shape {list(x.shape)}; give output_size where a size is open")
    attrs = {"ksize": kernel, "strides": stride, "paddings": widths, "unpooling_type": "max", "output_size": size}
    return append(op, {"X": x, "Indices": indices}, {"Out": x.dtype}, attrs, name)[0]


def max_unpool1d(x, indices, kernel_size, stride=None, padding: Any = 0, data_format="NCL", output_size=None, name=None):
    image, places = layers.unsqueeze(x, [2]), layers.unsqueeze(indices, [2])
    kernel, step, width = ([one, value] for one, value in ((1, kernel_size), (1, stride or kernel_size), (0, padding)))
    flat = [[one[0], one[1] if isinstance(one[1], int) else int(one[1][0])] for one in (kernel, step, width)]
    size = None if output_size is None else [1, int(list(output_size)[-1])]
    return layers.squeeze(_unpooled("unpool", 2, image, places, flat, size, name), [2])


def max_unpool2d(x, indices, kernel_size, stride=None, padding: Any = 0, data_format="NCHW", output_size=None, name=None):
    return _unpooled("unpool", 2, x, indices, (kernel_size, stride, padding), output_size, name)


def max_unpool3d(x, indices, kernel_size, stride=None, padding: Any = 0, data_format="NCDHW", output_size=None, name=None):
    return _unpooled("unpool3d", 3, x, indices, (kernel_size, stride, padding), output_size, name)


def affine_grid(theta, out_shape, align_corners=True, name=None):
    given = isinstance(out_shape, (list, tuple))
    shape, attrs = ({}, {"output_shape": [int(size) for size in out_shape]}) if given else ({"OutputShape": out_shape}, {})
    return append("affine_grid", {"Theta": theta, **shape}, {"Output": theta.dtype}, {**attrs, "align_corners": bool(align_corners)}, name)[0]


def grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=True, name=None):
    attrs = {"mode": mode, "padding_mode": padding_mode, "align_corners": bool(align_corners)}
    return append("grid_sampler", {"X": x, "Grid": grid}, {"Output": x.dtype}, attrs, name)[0]


def temporal_shift(x, seg_num, shift_ratio=0.25, name=None, data_format="NCHW"):
    if not 0 < shift_ratio < 0.5:
        raise InvalidArgumentError(f"temporal_shift: shift_ratio is above 0 and below 0.5; found {shift_ratio}")
    image = moveaxis(x, -1, 1) if data_format == "NHWC" else x
    _, channels, height, width = image.shape
    video = layers.reshape(image, [-1, seg_num, channels, height, width])
    one, two = int(channels * shift_ratio), int(channels * 2 * shift_ratio)
    edge = layers.zeros_like(layers.slice(video, [1], [0], [1]))
    before = layers.concat([edge, layers.slice(video, [1], [0], [seg_num - 1])], axis=1) if seg_num > 1 else edge
    after = layers.concat([layers.slice(video, [1], [1], [seg_num]), edge], axis=1) if seg_num > 1 else edge
    parts = [layers.slice(one_of, [2], [start], [end]) for one_of, start, end in ((before, 0, one), (after, one, two), (video, two, channels)) if end > start]
    found = layers.reshape(layers.concat(parts, axis=2), [-1, channels, height, width])
    return moveaxis(found, 1, -1) if data_format == "NHWC" else found


def fold(x, output_sizes, kernel_sizes, strides: Any = 1, paddings: Any = 0, dilations: Any = 1, name=None):
    widths = [int(paddings)] * 4 if isinstance(paddings, int) else [int(width) for width in paddings]
    attrs = {
        "output_sizes": numbers(output_sizes, 2),
        "kernel_sizes": numbers(kernel_sizes, 2),
        "strides": numbers(strides, 2),
        "dilations": numbers(dilations, 2),
        "paddings": widths * 2 if len(widths) == 2 else widths,
    }
    return append("fold", {"X": x}, {"Y": x.dtype}, attrs, name)[0]


def gather_tree(ids, parents, name=None):
    return append("gather_tree", {"Ids": ids, "Parents": parents}, {"Out": ids.dtype}, {}, name)[0]


def ctc_loss(log_probs, labels, input_lengths, label_lengths, blank=0, reduction="mean", norm_by_times=False, name=None):
    given = {"Logits": log_probs, "Label": labels, "LogitsLength": input_lengths, "LabelLength": label_lengths}
    (loss,) = append("warpctc", given, {"Loss": log_probs.dtype}, {"blank": blank, "norm_by_times": bool(norm_by_times)}, name)
    loss = layers.squeeze(loss, [-1])
    if reduction == "mean":
        return T.mean(loss / layers.cast(layers.reshape(label_lengths, [-1]), log_probs.dtype))
    return T.sum(loss) if reduction == "sum" else loss


def hsigmoid_loss(input, label, num_classes, weight, bias=None, path_table=None, path_code=None, is_sparse=False, name=None):
    given = {"X": input, "W": weight, "Label": label, "Bias": bias, "PathTable": path_table, "PathCode": path_code}
    given = {slot: value for slot, value in given.items() if value is not None}
    outputs = {"Out": input.dtype, "PreOut": input.dtype}
    return append("hierarchical_sigmoid", given, outputs, {"num_classes": num_classes, "is_sparse": bool(is_sparse)}, name)[0]
