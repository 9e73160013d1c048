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
        self._arguments = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "return_mask": return_mask, "ceil_mode": ceil_mode,
                           "data_format": self._checked(data_format)}


class _Average(_Pool):
    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, exclusive=True, divisor_override=None, data_format=None, name=None):
        super().__init__()
        self._arguments = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "ceil_mode": ceil_mode, "exclusive": exclusive,
                           "divisor_override": divisor_override, "data_format": self._checked(data_format)}


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
        self._arguments = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "data_format": self._checked(data_format),
                           "output_size": output_size}

    def forward(self, x, indices):
        return self._function(x, indices, **self._arguments)


class MaxPool1D(_Max):
    _axes, _function = 1, staticmethod(F.max_pool1d)


class MaxPool2D(_Max):
    _axes, _function = 2, staticmethod(F.max_pool2d)


class MaxPool3D(_Max):
    _axes, _function = 3, staticmethod(F.max_pool3d)


class AvgPool1D(_Average):
    _axes, _function = 1, staticmethod(F.avg_pool1d)

    def __init__(self, kernel_size, stride=None, padding=0, exclusive=True, ceil_mode=False, name=None):
        super().__init__(kernel_size, stride, padding, ceil_mode, exclusive, None, "NCL")


class AvgPool2D(_Average):
    _axes, _function = 2, staticmethod(F.avg_pool2d)


class AvgPool3D(_Average):
    _axes, _function = 3, staticmethod(F.avg_pool3d)


class AdaptiveAvgPool1D(_AdaptiveAverage):
    _axes, _function = 1, staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2D(_AdaptiveAverage):
    _axes, _function = 2, staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3D(_AdaptiveAverage):
    _axes, _function = 3, staticmethod(F.adaptive_avg_pool3d)


class AdaptiveMaxPool1D(_AdaptiveMax):
    _axes, _function = 1, staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2D(_AdaptiveMax):
    _axes, _function = 2, staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3D(_AdaptiveMax):
    _axes, _function = 3, staticmethod(F.adaptive_max_pool3d)


class MaxUnPool1D(_MaxUn):
    _axes, _function = 1, staticmethod(F.max_unpool1d)


class MaxUnPool2D(_MaxUn):
    _axes, _function = 2, staticmethod(F.max_unpool2d)


class MaxUnPool3D(_MaxUn):
    _axes, _function = 3, staticmethod(F.max_unpool3d)
