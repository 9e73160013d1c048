"""Convolutions and pooling. A sequence is an image of height 1."""

from typing import Any

from argosy import tensor as T
from argosy.building.operators import append
from argosy.errors import InvalidArgumentError
from argosy.fluid import layers

__all__ = [
    "conv1d",
    "conv2d",
    "conv1d_transpose",
    "conv2d_transpose",
    "max_pool1d",
    "avg_pool1d",
    "adaptive_avg_pool1d",
    "adaptive_max_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_max_pool2d",
]


def numbers(value, count):
    return [int(value)] * count if isinstance(value, int) else [int(one) for one in value]


def paddings_of(padding, axes):
    """(paddings of the operator, its padding_algorithm). Lists have a number or a pair for each axis, or also pairs for batch and channels."""
    if isinstance(padding, str):
        return [0] * axes, padding.upper()
    if isinstance(padding, int):
        return [padding] * axes, "EXPLICIT"
    given = list(padding)
    if given and isinstance(given[0], (list, tuple)):
        pairs = given[-axes:] if given[:2] == [[0, 0], [0, 0]] or len(given) == axes else given[1:-1]
        return [int(width) for pair in pairs for width in pair], "EXPLICIT"
    return [int(width) for width in given], "EXPLICIT"


def _biased(out, bias, behind):
    if bias is None:
        return out
    return out + (bias if behind else layers.reshape(bias, [1, -1] + [1] * (len(out.shape) - 2)))


def convolve(op, x, weight, bias, stride, padding, dilation, groups, data_format, name, **more):
    axes = len(data_format) - 2
    widths, algorithm = paddings_of(padding, axes)
    attrs = {
        "strides": numbers(stride, axes),
        "paddings": widths,
        "dilations": numbers(dilation, axes),
        "groups": groups,
        "padding_algorithm": algorithm,
        "data_format": data_format,
        **more,
    }
    (out,) = append(op, {"Input": x, "Filter": weight}, {"Output": x.dtype}, attrs, name)
    return _biased(out, bias, data_format[-1] == "C")


def conv2d(x, weight, bias=None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups=1, data_format="NCHW", name=None):
    return convolve("conv2d", x, weight, bias, stride, padding, dilation, groups, data_format, name)


def _only(value):
    return value if isinstance(value, int) else int(value[0])


def _line_padding(padding):
    if isinstance(padding, str):
        return padding
    widths, _ = paddings_of(padding, 1)
    return [0, 0, widths[0], widths[-1]] if len(widths) == 2 else [0, widths[0]]


def _on_lines(function, x, data_format):
    """function(images of height 1), as sequences again."""
    axis = 1 if data_format == "NLC" else 2
    return layers.squeeze(function(layers.unsqueeze(x, [axis]), "NHWC" if data_format == "NLC" else "NCHW"), [axis])


def conv1d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, data_format="NCL", name=None):
    kernel = layers.unsqueeze(weight, [2])
    return _on_lines(
        lambda image, form: conv2d(image, kernel, bias, [1, _only(stride)], _line_padding(padding), [1, _only(dilation)], groups, form, name), x, data_format
    )


def conv2d_transpose(
    x, weight, bias=None, stride: Any = 1, padding: Any = 0, output_padding=0, dilation: Any = 1, groups=1, output_size=None, data_format="NCHW", name=None
):
    if output_padding not in (0, [0, 0], (0, 0)):
        raise InvalidArgumentError(f"conv2d_transpose: use output_size instead of output_padding for variables; found {output_padding}")
    more = {} if output_size is None else {"output_size": numbers(output_size, 2)}
    return convolve("conv2d_transpose", x, weight, bias, stride, padding, dilation, groups, data_format, name, **more)


def conv1d_transpose(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1, output_size=None, data_format="NCL", name=None):
    kernel = layers.unsqueeze(weight, [2])
    size = None if output_size is None else [1, _only(output_size)]
    return _on_lines(
        lambda image, form: conv2d_transpose(
            image, kernel, bias, [1, _only(stride)], _line_padding(padding), output_padding, [1, _only(dilation)], groups, size, form, name
        ),
        x,
        data_format,
    )


def _pool1d(x, kind, kernel_size, stride, padding, ceil_mode, exclusive, data_format):
    stride = kernel_size if stride is None else stride
    return _on_lines(
        lambda image, form: layers.pool2d(
            image,
            pool_size=[1, _only(kernel_size)],
            pool_type=kind,
            pool_stride=[1, _only(stride)],
            pool_padding=_line_padding(padding),
            ceil_mode=ceil_mode,
            exclusive=exclusive,
            data_format=form,
        ),
        x,
        data_format,
    )


def max_pool2d_with_mask(x, kernel_size, stride, padding, ceil_mode, data_format, name=None):
    """(the largest value of each window, its place in the image)."""
    if ceil_mode or data_format != "NCHW":
        raise InvalidArgumentError(f"max_pool2d: with return_mask, ceil_mode is False and data_format 'NCHW'; found {ceil_mode} and {data_format!r}")
    attrs = {"ksize": numbers(kernel_size, 2), "strides": numbers(kernel_size if stride is None else stride, 2), "paddings": paddings_of(padding, 2)[0]}
    return append("max_pool2d_with_index", {"X": x}, {"Out": x.dtype, "Mask": "int32"}, attrs, name, "max_pool2d")


def max_pool1d(x, kernel_size, stride=None, padding=0, return_mask=False, ceil_mode=False, data_format="NCL", name=None):
    if return_mask:
        step = kernel_size if stride is None else stride
        image, window = layers.unsqueeze(x, [2]), [1, _only(kernel_size)]
        found = max_pool2d_with_mask(image, window, [1, _only(step)], _line_padding(padding), ceil_mode, "NCHW" if data_format == "NCL" else data_format, name)
        return tuple(layers.squeeze(one, [2]) for one in found)
    return _pool1d(x, "max", kernel_size, stride, padding, ceil_mode, True, data_format)


def avg_pool1d(x, kernel_size, stride=None, padding=0, exclusive=True, ceil_mode=False, divisor_override=None, data_format="NCL", name=None):
    if divisor_override is not None:
        raise InvalidArgumentError("avg_pool1d divides by the size of the window for variables; leave divisor_override out")
    return _pool1d(x, "avg", kernel_size, stride, padding, ceil_mode, exclusive, data_format)


def wanted_sizes(x, output_size, axes):
    """The sizes of an adaptive pool's result; None keeps the size of x, whose channels are in front."""
    given = [output_size] * axes if isinstance(output_size, int) or output_size is None else output_size
    return [x.shape[i - axes] if size is None else int(size) for i, size in enumerate(given)]


def _adaptive(x, kind, output_size, return_mask, behind):
    x = T.transpose(x, [0, 3, 1, 2]) if behind else x
    sizes = wanted_sizes(x, output_size, 2)
    if return_mask:
        return append("max_pool2d_with_index", {"X": x}, {"Out": x.dtype, "Mask": "int32"}, {"ksize": sizes, "adaptive": True}, None, "adaptive_pool2d")
    found = layers.adaptive_pool2d(x, sizes, pool_type=kind)
    return T.transpose(found, [0, 2, 3, 1]) if behind else found


def adaptive_avg_pool2d(x, output_size, data_format="NCHW", name=None):
    return _adaptive(x, "avg", output_size, False, data_format == "NHWC")


def adaptive_max_pool2d(x, output_size, return_mask=False, name=None):
    return _adaptive(x, "max", output_size, return_mask, False)


def adaptive_avg_pool1d(x, output_size, data_format="NCL", name=None):
    return _on_lines(lambda image, form: _adaptive(image, "avg", [1, _only(output_size)], False, form == "NHWC"), x, data_format)


def adaptive_max_pool1d(x, output_size, return_mask=False, name=None):
    if return_mask:
        found = _adaptive(layers.unsqueeze(x, [2]), "max", [1, _only(output_size)], True, False)
        return tuple(layers.squeeze(one, [2]) for one in found)
    return _on_lines(lambda image, form: _adaptive(image, "max", [1, _only(output_size)], return_mask, form == "NHWC"), x, "NCL")
