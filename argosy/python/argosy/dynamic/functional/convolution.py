"""Convolutions. Weights are [out, in, ...], those of transposed ones [in, out, ...]; images are NCHW unless data_format says otherwise."""

from collections.abc import Callable
from typing import Any

from torch.nn import functional

from argosy.dynamic.calls import computes, named
from argosy.dynamic.functional.formats import channels_behind, usual
from argosy.errors import InvalidArgumentError


def numbers(value, count):
    """One number for every axis, or as many as there are."""
    return [int(value)] * count if isinstance(value, int) else [int(one) for one in value]


def padding_of(padding, axes, what):
    """(widths before and after each axis, 'same' or None). Paddle's forms: a number, one or two an axis, pairs, 'SAME', 'VALID'."""
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise InvalidArgumentError(f"{what}: padding by name is 'SAME' or 'VALID'; found {padding!r}")
        return [(0, 0)] * axes, "same" if padding.upper() == "SAME" else None
    if isinstance(padding, int):
        return [(padding, padding)] * axes, None
    padding = list(padding)
    if padding and all(isinstance(one, (list, tuple)) for one in padding):  # with the batch and the channel, or without
        spatial = padding if len(padding) == axes else padding[2:] if list(padding[1]) == [0, 0] else padding[1:-1]
        return [tuple(one) for one in spatial], None
    if len(padding) == 2 * axes:
        return [(padding[2 * i], padding[2 * i + 1]) for i in range(axes)], None
    return [(one, one) for one in numbers(padding[0] if len(padding) == 1 else padding, axes)], None


def same_widths(sizes, kernel, stride, dilation):
    """What 'SAME' adds before and after each axis, so that the result has size / stride, rounded up."""
    widths = []
    for size, k, s, d in zip(sizes, kernel, stride, dilation):
        total = max((-(-size // s) - 1) * s + d * (k - 1) + 1 - size, 0)
        widths.append((total // 2, total - total // 2))
    return widths


def padded(x, widths, value=0.0):
    """(x with uneven widths added, the even widths that are left to the operation)."""
    if all(before == after for before, after in widths):
        return x, [before for before, _ in widths]
    flat = [width for pair in reversed(widths) for width in pair]
    return functional.pad(x, flat, value=value), [0] * len(widths)


def _convolution(axes, of_torch, doc=None):
    def function(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, data_format=usual(axes), name=None):
        behind = channels_behind(data_format, function.__name__, axes)
        x = x.movedim(-1, 1) if behind else x
        stride, dilation = numbers(stride, axes), numbers(dilation, axes)
        widths, same = padding_of(padding, axes, function.__name__)
        if same:
            widths = same_widths(x.shape[2:], weight.shape[2:], stride, dilation)
        x, even = padded(x, widths)
        found = of_torch(x, weight, bias, stride, even, dilation, groups)
        return found.movedim(1, -1) if behind else found

    return computes(named(function, f"conv{axes}d", doc))


def _transposed(axes, of_torch, doc=None):
    def compute(x, weight, bias, stride, padding, output_padding, dilation, groups, output_size, data_format):
        behind = channels_behind(data_format, function.__name__, axes)
        x = x.movedim(-1, 1) if behind else x
        stride, dilation, extra = (numbers(one, axes) for one in (stride, dilation, output_padding))
        widths, same = padding_of(padding, axes, function.__name__)
        if same or any(before != after for before, after in widths):
            raise InvalidArgumentError(f"{function.__name__}: padding is the same before and after each axis here; found {padding!r}")
        even = [before for before, _ in widths]
        if output_size is not None:
            smallest = [(size - 1) * s - 2 * p + d * (k - 1) + 1 for size, s, p, d, k in zip(x.shape[2:], stride, even, dilation, weight.shape[2:])]
            extra = [wanted - least for wanted, least in zip(numbers(output_size, axes), smallest)]
        found = of_torch(x, weight, bias, stride, even, extra, groups, dilation)
        return found.movedim(1, -1) if behind else found

    def of_images(x, weight, bias=None, stride=1, padding=0, output_padding=0, dilation=1, groups=1, output_size=None, data_format=usual(axes), name=None):
        return compute(x, weight, bias, stride, padding, output_padding, dilation, groups, output_size, data_format)

    def of_others(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1, output_size=None, data_format=usual(axes), name=None):
        return compute(x, weight, bias, stride, padding, output_padding, dilation, groups, output_size, data_format)

    function: Callable[..., Any] = of_images if axes == 2 else of_others  # Paddle's own orders
    return computes(named(function, f"conv{axes}d_transpose", doc))


conv1d = _convolution(
    1,
    functional.conv1d,
    """A convolution along the last axis of [batch, channels, length] with weights [out, in / groups, size].

    stride and dilation are a number; padding is one, two, 'SAME' or 'VALID'.

    >>> F.conv1d(paddle.to_tensor([[[1.0, 2.0, 3.0]]]), paddle.ones([1, 1, 2])).tolist()
    [[[3.0, 5.0]]]
    """,
)
conv1d_transpose = _transposed(
    1,
    functional.conv_transpose1d,
    """The opposite of conv1d's change of sizes: each element of x spreads a window of the weights, [in, out / groups, size].

    output_padding, or output_size, chooses among the lengths that conv1d would take to the length of x.

    >>> F.conv1d_transpose(paddle.to_tensor([[[1.0, 2.0]]]), paddle.ones([1, 1, 2])).tolist()
    [[[1.0, 3.0, 2.0]]]
    """,
)
conv2d = _convolution(
    2,
    functional.conv2d,
    """A convolution of images [batch, channels, height, width] with weights [out, in / groups, height, width].

    stride and dilation are a number or one for each axis; padding also two for each axis, 'SAME' or 'VALID'.

    >>> F.conv2d(paddle.ones([1, 1, 3, 3]), paddle.ones([1, 1, 2, 2])).tolist()
    [[[[4.0, 4.0], [4.0, 4.0]]]]
    """,
)
conv2d_transpose = _transposed(
    2,
    functional.conv_transpose2d,
    """The opposite of conv2d's change of sizes: each pixel spreads a window of the weights, [in, out / groups, height, width].

    output_padding, or output_size, chooses among the sizes that conv2d would take to those of x.

    >>> F.conv2d_transpose(paddle.ones([1, 1, 2, 2]), paddle.ones([1, 1, 2, 2]), stride=2).shape
    [1, 1, 4, 4]
    """,
)
conv3d = _convolution(
    3,
    functional.conv3d,
    """A convolution of volumes [batch, channels, depth, height, width] with weights [out, in / groups, depth, height, width].

    stride and dilation are a number or one for each axis; padding also two for each axis, 'SAME' or 'VALID'.

    >>> F.conv3d(paddle.ones([1, 1, 2, 2, 2]), paddle.ones([1, 1, 2, 2, 2])).tolist()
    [[[[[8.0]]]]]
    """,
)
conv3d_transpose = _transposed(
    3,
    functional.conv_transpose3d,
    """The opposite of conv3d's change of sizes: each element spreads a window of the weights, [in, out / groups, depth, height, width].

    output_padding, or output_size, chooses among the sizes that conv3d would take to those of x.

    >>> F.conv3d_transpose(paddle.ones([1, 1, 1, 1, 1]), paddle.ones([1, 1, 2, 2, 2])).shape
    [1, 1, 2, 2, 2]
    """,
)
