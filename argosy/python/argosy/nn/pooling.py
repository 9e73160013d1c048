"""Pooling layers: the functions of the same names with their arguments kept."""

from collections.abc import Callable
from typing import Any

from argosy.dynamic import functional as F
from argosy.dynamic.functional.formats import channels_behind, usual
from argosy.nn.layer import Layer


class _Pool(Layer):
    _axes: int
    _function: Callable[..., Any]
    _arguments: dict[str, Any]

    def _checked(self, data_format):
        channels_behind(data_format or usual(self._axes), type(self).__name__, self._axes)
        return data_format or usual(self._axes)

    def forward(self, x):
        return self._function(x, **self._arguments)

    def extra_repr(self):
        shown = {"kernel_size": "kernel_size", "stride": "stride", "padding": "padding", "output_size": "output_size"}
        return ", ".join(f"{name}={self._arguments[key]}" for key, name in shown.items() if key in self._arguments)


class _Max(_Pool):
    def __init__(self, kernel_size, stride=None, padding=0, return_mask=False, ceil_mode=False, data_format=None, name=None):
        super().__init__()
        self._arguments = {
            "kernel_size": kernel_size,
            "stride": stride,
            "padding": padding,
            "return_mask": return_mask,
            "ceil_mode": ceil_mode,
            "data_format": self._checked(data_format),
        }


class _Average(_Pool):
    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, exclusive=True, divisor_override=None, data_format=None, name=None):
        super().__init__()
        self._arguments = {
            "kernel_size": kernel_size,
            "stride": stride,
            "padding": padding,
            "ceil_mode": ceil_mode,
            "exclusive": exclusive,
            "divisor_override": divisor_override,
            "data_format": self._checked(data_format),
        }


class _AdaptiveAverage(_Pool):
    def __init__(self, output_size, data_format=None, name=None):
        super().__init__()
        self._arguments = {"output_size": output_size, "data_format": self._checked(data_format)}


class _AdaptiveMax(_Pool):
    def __init__(self, output_size, return_mask=False, name=None):
        super().__init__()
        self._arguments = {"output_size": output_size, "return_mask": return_mask}


class _MaxUn(_Pool):
    def __init__(self, kernel_size, stride=None, padding=0, data_format=None, output_size=None, name=None):
        super().__init__()
        self._arguments = {
            "kernel_size": kernel_size,
            "stride": stride,
            "padding": padding,
            "data_format": self._checked(data_format),
            "output_size": output_size,
        }

    def forward(self, x, indices):
        return self._function(x, indices, **self._arguments)


class MaxPool1D(_Max):
    """The largest value of each window along the last axis of [batch, channels, length], and their positions where return_mask.

    >>> nn.MaxPool1D(2)(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]])).tolist()
    [[[3.0, 2.0]]]
    """

    _axes, _function = 1, staticmethod(F.max_pool1d)

    def forward(self, input):
        return super().forward(input)


class MaxPool2D(_Max):
    """The largest value of each window of images [batch, channels, height, width], and their positions where return_mask.

    Sizes are a number or one for each axis. The stride is the kernel's size unless given; ceil_mode also takes windows that reach beyond the end.

    >>> nn.MaxPool2D(2)(paddle.arange(16, dtype="float32").reshape([1, 1, 4, 4])).tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """

    _axes, _function = 2, staticmethod(F.max_pool2d)


class MaxPool3D(_Max):
    """The largest value of each window of volumes [batch, channels, depth, height, width], and their positions where return_mask.

    >>> nn.MaxPool3D(2)(paddle.zeros([1, 1, 2, 4, 4])).shape
    [1, 1, 1, 2, 2]
    """

    _axes, _function = 3, staticmethod(F.max_pool3d)


class AvgPool1D(_Average):
    """The mean of each window along the last axis of [batch, channels, length]; exclusive counts no padding.

    >>> nn.AvgPool1D(2)(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]])).tolist()
    [[[2.0, 1.0]]]
    """

    _axes, _function = 1, staticmethod(F.avg_pool1d)

    def __init__(self, kernel_size, stride=None, padding=0, exclusive=True, ceil_mode=False, name=None):
        super().__init__(kernel_size, stride, padding, ceil_mode, exclusive, None, "NCL")


class AvgPool2D(_Average):
    """The mean of each window of images [batch, channels, height, width]; exclusive counts no padding, divisor_override is what sums are divided by.

    Sizes are a number or one for each axis. The stride is the kernel's size unless given; ceil_mode also takes windows that reach beyond the end.

    >>> nn.AvgPool2D(2)(paddle.arange(16, dtype="float32").reshape([1, 1, 4, 4])).tolist()
    [[[[2.5, 4.5], [10.5, 12.5]]]]
    """

    _axes, _function = 2, staticmethod(F.avg_pool2d)


class AvgPool3D(_Average):
    """The mean of each window of volumes [batch, channels, depth, height, width]; exclusive counts no padding.

    >>> nn.AvgPool3D(2)(paddle.zeros([1, 1, 2, 4, 4])).shape
    [1, 1, 1, 2, 2]
    """

    _axes, _function = 3, staticmethod(F.avg_pool3d)


class AdaptiveAvgPool1D(_AdaptiveAverage):
    """Means of windows along the last axis, as large as output_size means need.

    >>> nn.AdaptiveAvgPool1D(2)(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]])).tolist()
    [[[2.0, 1.0]]]
    """

    _axes, _function = 1, staticmethod(F.adaptive_avg_pool1d)

    def forward(self, input):
        return super().forward(input)


class AdaptiveAvgPool2D(_AdaptiveAverage):
    """Means of windows of images, as large as output_size means need; it is a number or one for each axis, and None keeps a size.

    >>> nn.AdaptiveAvgPool2D(1)(paddle.ones([1, 2, 5, 7])).shape
    [1, 2, 1, 1]
    """

    _axes, _function = 2, staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3D(_AdaptiveAverage):
    """Means of windows of volumes, as large as output_size means need; it is a number or one for each axis, and None keeps a size.

    >>> nn.AdaptiveAvgPool3D(1)(paddle.ones([1, 2, 3, 5, 7])).shape
    [1, 2, 1, 1, 1]
    """

    _axes, _function = 3, staticmethod(F.adaptive_avg_pool3d)


class AdaptiveMaxPool1D(_AdaptiveMax):
    """Largest values of windows along the last axis, as large as output_size of them need, and their positions where return_mask.

    >>> nn.AdaptiveMaxPool1D(2)(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]])).tolist()
    [[[3.0, 2.0]]]
    """

    _axes, _function = 1, staticmethod(F.adaptive_max_pool1d)

    def forward(self, input):
        return super().forward(input)


class AdaptiveMaxPool2D(_AdaptiveMax):
    """Largest values of windows of images, as large as output_size of them need, and their positions where return_mask.

    >>> nn.AdaptiveMaxPool2D(1)(paddle.ones([1, 2, 5, 7])).shape
    [1, 2, 1, 1]
    """

    _axes, _function = 2, staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3D(_AdaptiveMax):
    """Largest values of windows of volumes, as large as output_size of them need, and their positions where return_mask.

    >>> nn.AdaptiveMaxPool3D(1)(paddle.ones([1, 2, 3, 5, 7])).shape
    [1, 2, 1, 1, 1]
    """

    _axes, _function = 3, staticmethod(F.adaptive_max_pool3d)


class MaxUnPool1D(_MaxUn):
    """Values back at the places that MaxPool1D(return_mask=True) took them from, and 0 elsewhere.

    >>> values, places = nn.MaxPool1D(2, return_mask=True)(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]))
    >>> nn.MaxUnPool1D(2)(values, places).tolist()
    [[[0.0, 3.0, 2.0, 0.0]]]
    """

    _axes, _function = 1, staticmethod(F.max_unpool1d)


class MaxUnPool2D(_MaxUn):
    """Values back at the places that MaxPool2D(return_mask=True) took them from, and 0 elsewhere.

    >>> values, places = nn.MaxPool2D(2, return_mask=True)(paddle.to_tensor([[[[1.0, 3.0], [2.0, 0.0]]]]))
    >>> nn.MaxUnPool2D(2)(values, places).tolist()
    [[[[0.0, 3.0], [0.0, 0.0]]]]
    """

    _axes, _function = 2, staticmethod(F.max_unpool2d)


class MaxUnPool3D(_MaxUn):
    """Values back at the places that MaxPool3D(return_mask=True) took them from, and 0 elsewhere.

    >>> values, places = nn.MaxPool3D(2, return_mask=True)(paddle.ones([1, 1, 2, 2, 2]))
    >>> nn.MaxUnPool3D(2)(values, places).shape
    [1, 1, 2, 2, 2]
    """

    _axes, _function = 3, staticmethod(F.max_unpool3d)
