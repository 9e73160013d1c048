"""Images as columns of their windows, and back."""

from typing import Any

from torch.nn import functional

from argosy.dynamic.calls import computes
from argosy.errors import InvalidArgumentError


def _pair(value, what):
    if isinstance(value, int):
        return [value, value]
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise InvalidArgumentError(f"{what} is a number or two; found {value!r}")
    return [int(one) for one in value]


def _widths(paddings, what):
    """(top, left, bottom, right)."""
    if isinstance(paddings, int):
        return [paddings] * 4
    if not isinstance(paddings, (list, tuple)) or len(paddings) not in (2, 4):
        raise InvalidArgumentError(f"{what}: paddings is a number, two or four; found {paddings!r}")
    return [int(one) for one in paddings] * (4 // len(paddings))


def _options(what, kernel_sizes, strides, dilations) -> dict[str, Any]:
    return {
        "kernel_size": _pair(kernel_sizes, f"{what}: kernel_sizes"),
        "stride": _pair(strides, f"{what}: strides"),
        "dilation": _pair(dilations, f"{what}: dilations"),
    }


@computes
def unfold(x, kernel_sizes, strides=1, paddings=0, dilations=1, name=None):
    """[batch, channels, height, width] as [batch, channels * window, windows]: a column for each window.

    Sizes, strides and dilations are a number or two, paddings also four: top, left, bottom and right.

    >>> F.unfold(paddle.arange(4, dtype="float32").reshape([1, 1, 2, 2]), [1, 2]).tolist()
    [[[0.0, 2.0], [1.0, 3.0]]]
    """
    if x.dim() != 4:
        raise InvalidArgumentError(f"unfold: x is [batch, channels, height, width]; found {list(x.shape)}")
    top, left, bottom, right = _widths(paddings, "unfold")
    return functional.unfold(functional.pad(x, [left, right, top, bottom]), **_options("unfold", kernel_sizes, strides, dilations))


@computes
def fold(x, output_sizes, kernel_sizes, strides=1, paddings=0, dilations=1, name=None):
    """What unfold made of an image of `output_sizes`, added up where windows overlap.

    >>> F.fold(paddle.ones([1, 4, 1]), output_sizes=[2, 2], kernel_sizes=2).tolist()
    [[[[1.0, 1.0], [1.0, 1.0]]]]
    """
    if x.dim() != 3:
        raise InvalidArgumentError(f"fold: x is [batch, channels * window, windows]; found {list(x.shape)}")
    height, width = _pair(output_sizes, "fold: output_sizes")
    top, left, bottom, right = _widths(paddings, "fold")
    whole = functional.fold(x, (height + top + bottom, width + left + right), **_options("fold", kernel_sizes, strides, dilations))
    return whole[:, :, top : top + height, left : left + width]
