"""Layers with a weight and a bias, lookups, dropout and changes of shape."""
from argosy.dynamic import functional as F
from argosy.dynamic import shape as shapes
from argosy.dynamic.functional.formats import channels_behind
from argosy.errors import InvalidArgumentError
from argosy.nn import initializer
from argosy.nn.layer import Layer

__all__ = ["Linear", "Bilinear", "Embedding", "Dropout", "Dropout2D", "Dropout3D", "AlphaDropout", "Flatten", "Unflatten", "Identity", "Pad1D", "Pad2D",
           "Pad3D", "ZeroPad2D", "Upsample", "UpsamplingNearest2D", "UpsamplingBilinear2D", "CosineSimilarity", "PairwiseDistance", "PixelShuffle",
           "PixelUnshuffle", "ChannelShuffle", "Unfold", "Fold"]


class Identity(Layer):
    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


class Linear(Layer):
    """x @ weight + bias. The weight is [in_features, out_features]."""

    def __init__(self, in_features, out_features, weight_attr=None, bias_attr=None, name=None):
        super().__init__()
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.weight.shape[0]}, out_features={self.weight.shape[1]}, dtype={self._dtype}"


class Bilinear(Layer):
    def __init__(self, in1_features, in2_features, out_features, weight_attr=None, bias_attr=None, name=None):
        super().__init__()
        self.weight = self.create_parameter([out_features, in1_features, in2_features], weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1, x2):
        return F.bilinear(x1, x2, self.weight, self.bias)


class Embedding(Layer):
    """Rows of a table by id."""

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, sparse=False, weight_attr=None, name=None):
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise InvalidArgumentError(f"Embedding: padding_idx is one of {num_embeddings} rows; found {padding_idx}")
        self._sizes, self._sparse = (num_embeddings, embedding_dim), sparse
        self._padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.weight = self.create_parameter([num_embeddings, embedding_dim], weight_attr, default_initializer=initializer.XavierNormal())
        if self._padding_idx is not None:
            self.weight[self._padding_idx] = 0.0

    def forward(self, x):
        return F.embedding(x, self.weight, self._padding_idx, self._sparse)

    def extra_repr(self):
        padding = "" if self._padding_idx is None else f", padding_idx={self._padding_idx}"
        return f"{self._sizes[0]}, {self._sizes[1]}{padding}, sparse={self._sparse}"


class Dropout(Layer):
    def __init__(self, p=0.5, axis=None, mode="upscale_in_train", name=None):
        super().__init__()
        self.p, self.axis, self.mode = p, axis, mode

    def forward(self, input):
        return F.dropout(input, self.p, self.axis, self.training, self.mode)

    def extra_repr(self):
        return f"p={self.p}, axis={self.axis}, mode={self.mode}"


class Dropout2D(Layer):
    """Whole channels become 0."""

    _function, _format = staticmethod(F.dropout2d), "NCHW"

    def __init__(self, p=0.5, data_format=None, name=None):
        super().__init__()
        self.p, self.data_format = p, data_format or self._format

    def forward(self, input):
        return self._function(input, self.p, self.training, self.data_format)

    def extra_repr(self):
        return f"p={self.p}, data_format={self.data_format}"


class Dropout3D(Dropout2D):
    _function, _format = staticmethod(F.dropout3d), "NCDHW"


class AlphaDropout(Layer):
    def __init__(self, p=0.5, name=None):
        super().__init__()
        self.p = p

    def forward(self, input):
        return F.alpha_dropout(input, self.p, self.training)


class Flatten(Layer):
    def __init__(self, start_axis=1, stop_axis=-1):
        super().__init__()
        self.start_axis, self.stop_axis = start_axis, stop_axis

    def forward(self, input):
        return shapes.flatten(input, self.start_axis, self.stop_axis)


class Unflatten(Layer):
    def __init__(self, axis, shape, name=None):
        super().__init__()
        self.axis, self.shape = axis, shape

    def forward(self, input):
        return shapes.unflatten(input, self.axis, self.shape)


class _Pad(Layer):
    _axes, _format = 2, "NCHW"

    def __init__(self, padding, mode="constant", value=0.0, data_format=None, name=None):
        super().__init__()
        self._pad = [padding] * (2 * self._axes) if isinstance(padding, int) else list(padding)
        self._mode, self._value, self._data_format = mode, value, data_format or self._format

    def forward(self, x):
        return F.pad(x, self._pad, self._mode, self._value, self._data_format)

    def extra_repr(self):
        return f"padding={self._pad}, mode={self._mode}, value={self._value}, data_format={self._data_format}"


class Pad1D(_Pad):
    _axes, _format = 1, "NCL"


class Pad2D(_Pad):
    pass


class Pad3D(_Pad):
    _axes, _format = 3, "NCDHW"


class ZeroPad2D(_Pad):
    def __init__(self, padding, data_format="NCHW", name=None):
        super().__init__(padding, "constant", 0.0, data_format)


class Upsample(Layer):
    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=False, align_mode=0, data_format="NCHW", name=None):
        super().__init__()
        self._arguments = (size, scale_factor, mode, align_corners, align_mode, data_format)

    def forward(self, x):
        return F.interpolate(x, *self._arguments)


class UpsamplingNearest2D(Upsample):
    def __init__(self, size=None, scale_factor=None, data_format="NCHW", name=None):
        super().__init__(size, scale_factor, "nearest", False, 0, data_format)


class UpsamplingBilinear2D(Upsample):
    def __init__(self, size=None, scale_factor=None, data_format="NCHW", name=None):
        super().__init__(size, scale_factor, "bilinear", True, 0, data_format)


class CosineSimilarity(Layer):
    def __init__(self, axis=1, eps=1e-8):
        super().__init__()
        self._axis, self._eps = axis, eps

    def forward(self, x1, x2):
        return F.cosine_similarity(x1, x2, self._axis, self._eps)


class PairwiseDistance(Layer):
    def __init__(self, p=2.0, epsilon=1e-6, keepdim=False, name=None):
        super().__init__()
        self._arguments = (p, epsilon, keepdim)

    def forward(self, x, y):
        return F.pairwise_distance(x, y, *self._arguments)


class _Shuffle(Layer):
    """A function on images with one number."""

    _function = _argument = None

    def __init__(self, number, data_format="NCHW", name=None):
        super().__init__()
        if not isinstance(number, int) or number <= 0:
            raise InvalidArgumentError(f"{type(self).__name__}: {self._argument} is a whole number above 0; found {number!r}")
        channels_behind(data_format, type(self).__name__, 2)
        self._number, self._data_format = number, data_format

    def forward(self, x):
        return type(self)._function(x, self._number, self._data_format)

    def extra_repr(self):
        return f"{self._argument}={self._number}" + ("" if self._data_format == "NCHW" else f", data_format={self._data_format}")


class PixelShuffle(_Shuffle):
    _function, _argument = staticmethod(F.pixel_shuffle), "upscale_factor"

    def __init__(self, upscale_factor, data_format="NCHW", name=None):
        super().__init__(upscale_factor, data_format)


class PixelUnshuffle(_Shuffle):
    _function, _argument = staticmethod(F.pixel_unshuffle), "downscale_factor"

    def __init__(self, downscale_factor, data_format="NCHW", name=None):
        super().__init__(downscale_factor, data_format)


class ChannelShuffle(_Shuffle):
    _function, _argument = staticmethod(F.channel_shuffle), "groups"

    def __init__(self, groups, data_format="NCHW", name=None):
        super().__init__(groups, data_format)


class Unfold(Layer):
    """Images as columns of their windows."""

    def __init__(self, kernel_sizes, dilations=1, paddings=0, strides=1, name=None):
        super().__init__()
        self.kernel_sizes, self.dilations, self.paddings, self.strides = kernel_sizes, dilations, paddings, strides

    def forward(self, input):
        return F.unfold(input, self.kernel_sizes, self.strides, self.paddings, self.dilations)

    def extra_repr(self):
        return f"kernel_size={self.kernel_sizes}, dilation={self.dilations}, padding={self.paddings}, stride={self.strides}"


class Fold(Unfold):
    """The way back."""

    def __init__(self, output_sizes, kernel_sizes, dilations=1, paddings=0, strides=1, name=None):
        super().__init__(kernel_sizes, dilations, paddings, strides)
        self.output_sizes = output_sizes

    def forward(self, input):
        return F.fold(input, self.output_sizes, self.kernel_sizes, self.strides, self.paddings, self.dilations)
