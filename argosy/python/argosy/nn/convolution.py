"""Convolutions."""
import math

from argosy.dynamic import functional as F
from argosy.dynamic.functional.convolution import numbers
from argosy.dynamic.functional.formats import channels_behind
from argosy.errors import InvalidArgumentError
from argosy.nn import initializer
from argosy.nn.layer import Layer

__all__ = ["Conv1D", "Conv2D", "Conv3D", "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"]


class _Convolution(Layer):
    """The weight is [out, in / groups, sizes of the kernel], normal with deviation sqrt(2 / fan in)."""

    _axes, _format = 2, "NCHW"

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, padding_mode="zeros", weight_attr=None,
                 bias_attr=None, data_format=None):
        super().__init__()
        if in_channels % groups or out_channels % groups:
            raise InvalidArgumentError(f"{type(self).__name__}: {in_channels} and {out_channels} channels do not come in {groups} groups")
        channels_behind(data_format or self._format, type(self).__name__, self._axes)
        self._kernel_size, self._stride = numbers(kernel_size, self._axes), numbers(stride, self._axes)
        self._dilation, self._padding, self._groups = numbers(dilation, self._axes), padding, groups
        self._in_channels, self._out_channels, self._data_format = in_channels, out_channels, data_format or self._format
        self._padding_mode = padding_mode
        self._make_parameters(weight_attr, bias_attr)

    def _make_parameters(self, weight_attr, bias_attr):
        fan_in = math.prod(self._kernel_size) * self._in_channels
        first = initializer.Normal(0.0, math.sqrt(2.0 / fan_in))
        self.weight = self.create_parameter([self._out_channels, self._in_channels // self._groups, *self._kernel_size], weight_attr,
                                            default_initializer=first)
        self.bias = self.create_parameter([self._out_channels], bias_attr, is_bias=True)

    def _padded(self, x):
        """(x, the padding that is left to the convolution)."""
        if self._padding_mode == "zeros":
            return x, self._padding
        widths = [width for one in reversed(numbers(self._padding, self._axes)) for width in (one, one)]
        return F.pad(x, widths, self._padding_mode, data_format=self._data_format), 0

    def forward(self, x):
        x, padding = self._padded(x)
        function = getattr(F, f"conv{self._axes}d")
        return function(x, self.weight, self.bias, self._stride, padding, self._dilation, self._groups, self._data_format)

    def extra_repr(self):
        parts = [f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"]
        one = [1] * self._axes
        if self._stride != one:
            parts.append(f"stride={self._stride}")
        if self._padding != 0:
            parts.append(f"padding={self._padding}")
        if self._padding_mode != "zeros":
            parts.append(f"padding_mode={self._padding_mode}")
        if self._dilation != one:
            parts.append(f"dilation={self._dilation}")
        if self._groups != 1:
            parts.append(f"groups={self._groups}")
        return ", ".join([*parts, f"data_format={self._data_format}"])


class Conv1D(_Convolution):
    _axes, _format = 1, "NCL"


class Conv2D(_Convolution):
    pass


class Conv3D(_Convolution):
    _axes, _format = 3, "NCDHW"


class _Transposed(_Convolution):
    """The weight is [in, out / groups, sizes of the kernel]."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, dilation=1, groups=1, weight_attr=None,
                 bias_attr=None, data_format=None):
        self._extra = output_padding
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, "zeros", weight_attr, bias_attr, data_format)

    def _make_parameters(self, weight_attr, bias_attr):
        self.weight = self.create_parameter([self._in_channels, self._out_channels // self._groups, *self._kernel_size], weight_attr)
        self.bias = self.create_parameter([self._out_channels], bias_attr, is_bias=True)

    def forward(self, x, output_size=None):
        function = getattr(F, f"conv{self._axes}d_transpose")
        return function(x, self.weight, self.bias, self._stride, self._padding, self._extra, self._dilation, self._groups, output_size,
                        self._data_format)


class Conv1DTranspose(_Transposed):
    _axes, _format = 1, "NCL"

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, dilation=1, weight_attr=None,
                 bias_attr=None, data_format=None):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, output_padding, dilation, groups, weight_attr, bias_attr, data_format)


class Conv2DTranspose(_Transposed):
    pass


class Conv3DTranspose(_Transposed):
    _axes, _format = 3, "NCDHW"
