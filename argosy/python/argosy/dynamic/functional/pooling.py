"""Pooling."""

from collections.abc import Callable
from typing import Any

from torch.nn import functional

from argosy.dynamic.calls import computes, named
from argosy.dynamic.functional.convolution import numbers, padded, padding_of, same_widths
from argosy.dynamic.functional.formats import channels_behind, usual
from argosy.errors import InvalidArgumentError


def _formed(x, axes, data_format, what):
    """(x with its channels in front, whether they were behind)."""
    behind = channels_behind(data_format, what, axes)
    return (x.movedim(-1, 1) if behind else x), behind


def _widths(x, kernel, stride, padding, axes, what):
    widths, same = padding_of(padding, axes, what)
    return same_widths(x.shape[2:], kernel, stride, [1] * axes) if same else widths


def _max(axes, of_torch, doc=None):
    def function(x, kernel_size, stride=None, padding=0, return_mask=False, ceil_mode=False, data_format=usual(axes), name=None):
        x, behind = _formed(x, axes, data_format, function.__name__)
        kernel = numbers(kernel_size, axes)
        stride = kernel if stride is None else numbers(stride, axes)
        x, even = padded(x, _widths(x, kernel, stride, padding, axes, function.__name__), float("-inf"))
        found = of_torch(x, kernel, stride, even, 1, ceil_mode, return_mask)
        parts = [found[0], found[1].int()] if return_mask else [found]
        parts = [one.movedim(1, -1) if behind else one for one in parts]
        return tuple(parts) if return_mask else parts[0]

    return computes(named(function, f"max_pool{axes}d", doc))


def _average(axes, of_torch, doc=None):
    what = f"avg_pool{axes}d"

    def pooled(x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format):
        x, behind = _formed(x, axes, data_format, what)
        kernel = numbers(kernel_size, axes)
        stride = kernel if stride is None else numbers(stride, axes)
        widths = _widths(x, kernel, stride, padding, axes, what)
        uneven = any(before != after for before, after in widths)
        if uneven and exclusive:
            raise InvalidArgumentError(f"{what}: with exclusive=True padding is the same before and after each axis here; found {padding!r}")
        x, even = padded(x, widths)
        options = {} if axes == 1 else {"divisor_override": divisor_override}
        found = of_torch(x, kernel, stride, even, ceil_mode, not exclusive, **options)
        return found.movedim(1, -1) if behind else found

    def lines(x, kernel_size, stride=None, padding=0, exclusive=True, ceil_mode=False, divisor_override=None, data_format=usual(axes), name=None):
        return pooled(x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format)

    def images(x, kernel_size, stride=None, padding=0, ceil_mode=False, exclusive=True, divisor_override=None, data_format=usual(axes), name=None):
        return pooled(x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format)

    chosen: Callable[..., Any] = lines if axes == 1 else images  # in the order of 2.6.2's arguments
    return computes(named(chosen, what, doc))


def _adaptive(axes, of_torch, doc=None):
    def function(x, output_size, data_format=usual(axes), name=None):
        x, behind = _formed(x, axes, data_format, function.__name__)
        sizes = [output_size] * axes if isinstance(output_size, int) or output_size is None else list(output_size)
        found = of_torch(x, [have if want is None else want for want, have in zip(sizes, x.shape[2:])])
        return found.movedim(1, -1) if behind else found

    return computes(named(function, f"adaptive_avg_pool{axes}d", doc))


def _adaptive_max(axes, of_torch, doc=None):
    def function(x, output_size, return_mask=False, name=None):
        sizes = [output_size] * axes if isinstance(output_size, int) or output_size is None else list(output_size)
        found = of_torch(x, [have if want is None else want for want, have in zip(sizes, x.shape[2:])], return_mask)
        return (found[0], found[1].int()) if return_mask else found

    return computes(named(function, f"adaptive_max_pool{axes}d", doc))


max_pool1d = _max(
    1,
    functional.max_pool1d,
    """The largest value of each window along the last axis of [batch, channels, length], and their positions where return_mask.

    >>> F.max_pool1d(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
    [[[3.0, 2.0]]]
    """,
)
max_pool2d = _max(2, functional.max_pool2d)
max_pool3d = _max(
    3,
    functional.max_pool3d,
    """The largest value of each window of volumes [batch, channels, depth, height, width], and their positions where return_mask.

    >>> F.max_pool3d(paddle.zeros([1, 1, 2, 4, 4]), 2).shape
    [1, 1, 1, 2, 2]
    """,
)
avg_pool1d = _average(
    1,
    functional.avg_pool1d,
    """The mean of each window along the last axis of [batch, channels, length]; exclusive counts no padding.

    >>> F.avg_pool1d(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
    [[[2.0, 1.0]]]
    """,
)
avg_pool2d = _average(2, functional.avg_pool2d)
avg_pool3d = _average(
    3,
    functional.avg_pool3d,
    """The mean of each window of volumes [batch, channels, depth, height, width]; exclusive counts no padding.

    >>> F.avg_pool3d(paddle.zeros([1, 1, 2, 4, 4]), 2).shape
    [1, 1, 1, 2, 2]
    """,
)
adaptive_avg_pool1d = _adaptive(
    1,
    functional.adaptive_avg_pool1d,
    """Means of windows along the last axis, as large as output_size means need.

    >>> F.adaptive_avg_pool1d(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
    [[[2.0, 1.0]]]
    """,
)
adaptive_avg_pool2d = _adaptive(
    2,
    functional.adaptive_avg_pool2d,
    """Means of windows of images, as large as output_size means need; it is a number or one for each axis, and None keeps a size.

    >>> F.adaptive_avg_pool2d(paddle.ones([1, 2, 5, 7]), 1).tolist()
    [[[[1.0]], [[1.0]]]]
    """,
)
adaptive_avg_pool3d = _adaptive(
    3,
    functional.adaptive_avg_pool3d,
    """Means of windows of volumes, as large as output_size means need; it is a number or one for each axis, and None keeps a size.

    >>> F.adaptive_avg_pool3d(paddle.ones([1, 2, 3, 5, 7]), [1, 2, None]).shape
    [1, 2, 1, 2, 7]
    """,
)
adaptive_max_pool1d = _adaptive_max(
    1,
    functional.adaptive_max_pool1d,
    """Largest values of windows along the last axis, as large as output_size of them need, and their positions where return_mask.

    >>> F.adaptive_max_pool1d(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
    [[[3.0, 2.0]]]
    """,
)
adaptive_max_pool2d = _adaptive_max(
    2,
    functional.adaptive_max_pool2d,
    """Largest values of windows of images, as large as output_size of them need, and their positions where return_mask.

    >>> F.adaptive_max_pool2d(paddle.ones([1, 2, 5, 7]), 1).tolist()
    [[[[1.0]], [[1.0]]]]
    """,
)
adaptive_max_pool3d = _adaptive_max(
    3,
    functional.adaptive_max_pool3d,
    """Largest values of windows of volumes, as large as output_size of them need, and their positions where return_mask.

    >>> F.adaptive_max_pool3d(paddle.ones([1, 2, 3, 5, 7]), [1, 2, None]).shape
    [1, 2, 1, 2, 7]
    """,
)
