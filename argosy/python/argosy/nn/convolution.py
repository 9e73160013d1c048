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

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        padding_mode="zeros",
        weight_attr=None,
        bias_attr=None,
        data_format=None,
    ):
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
        self.weight = self.create_parameter([self._out_channels, self._in_channels // self._groups, *self._kernel_size], weight_attr, default_initializer=first)
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
    """A convolution along the last axis of [batch, channels, length]. The weight is [out_channels, in_channels / groups, kernel_size].

    padding is a number, two, 'SAME' or 'VALID'; padding_mode is zeros, reflect, replicate or circular.

    >>> nn.Conv1D(3, 5, 2)(paddle.ones([1, 3, 8])).shape
    [1, 5, 7]
    """

    _axes, _format = 1, "NCL"


class Conv2D(_Convolution):
    """A convolution of images [batch, channels, height, width]. The weight is [out_channels, in_channels / groups, *kernel_size].

    Sizes are a number or one for each axis; padding also two for each axis, 'SAME' or 'VALID'; padding_mode is zeros, reflect, replicate or circular.

    >>> nn.Conv2D(3, 5, 3, stride=2, padding=1)(paddle.ones([1, 3, 8, 8])).shape
    [1, 5, 4, 4]
    """


class Conv3D(_Convolution):
    """A convolution of volumes [batch, channels, depth, height, width]. The weight is [out_channels, in_channels / groups, *kernel_size].

    >>> nn.Conv3D(1, 2, 3)(paddle.ones([1, 1, 4, 4, 4])).shape
    [1, 2, 2, 2, 2]
    """

    _axes, _format = 3, "NCDHW"


class _Transposed(_Convolution):
    """The weight is [in, out / groups, sizes of the kernel]."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        dilation=1,
        groups=1,
        weight_attr=None,
        bias_attr=None,
        data_format=None,
    ):
        self._extra = output_padding
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, "zeros", weight_attr, bias_attr, data_format)

    def _make_parameters(self, weight_attr, bias_attr):
        self.weight = self.create_parameter([self._in_channels, self._out_channels // self._groups, *self._kernel_size], weight_attr)
        self.bias = self.create_parameter([self._out_channels], bias_attr, is_bias=True)

    def forward(self, x, output_size=None):
        function = getattr(F, f"conv{self._axes}d_transpose")
        return function(
            x,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self._extra,
            dilation=self._dilation,
            groups=self._groups,
            output_size=output_size,
            data_format=self._data_format,
        )


class Conv1DTranspose(_Transposed):
    """The opposite of Conv1D's change of sizes. The weight is [in_channels, out_channels / groups, kernel_size].

    >>> nn.Conv1DTranspose(3, 5, 2, stride=2)(paddle.ones([1, 3, 4])).shape
    [1, 5, 8]
    """

    _axes, _format = 1, "NCL"

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        dilation=1,
        weight_attr=None,
        bias_attr=None,
        data_format=None,
    ):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, output_padding, dilation, groups, weight_attr, bias_attr, data_format)


class Conv2DTranspose(_Transposed):
    """The opposite of Conv2D's change of sizes, which enlarges images. The weight is [in_channels, out_channels / groups, *kernel_size].

    output_padding, or output_size in the call, chooses among the sizes that Conv2D would take to those of x.

    >>> nn.Conv2DTranspose(3, 5, 2, stride=2)(paddle.ones([1, 3, 4, 4])).shape
    [1, 5, 8, 8]
    """


class Conv3DTranspose(_Transposed):
    """The opposite of Conv3D's change of sizes. The weight is [in_channels, out_channels / groups, *kernel_size].

    >>> nn.Conv3DTranspose(1, 2, 2)(paddle.ones([1, 1, 2, 2, 2])).shape
    [1, 2, 3, 3, 3]
    """

    _axes, _format = 3, "NCDHW"
