"""Layers with a weight and a bias, lookups, dropout and changes of shape."""

from collections.abc import Callable
from typing import Any

from argosy.dynamic import functional as F
from argosy.dynamic import shape as shapes
from argosy.dynamic.functional.formats import channels_behind
from argosy.errors import InvalidArgumentError
from argosy.nn import initializer, parts
from argosy.nn.layer import Layer

__all__ = [
    "Linear",
    "Bilinear",
    "Embedding",
    "Dropout",
    "Dropout2D",
    "Dropout3D",
    "AlphaDropout",
    "Flatten",
    "Unflatten",
    "Identity",
    "Pad1D",
    "Pad2D",
    "Pad3D",
    "ZeroPad2D",
    "Upsample",
    "UpsamplingNearest2D",
    "UpsamplingBilinear2D",
    "CosineSimilarity",
    "PairwiseDistance",
    "PixelShuffle",
    "PixelUnshuffle",
    "ChannelShuffle",
    "Unfold",
    "Fold",
]


class Identity(Layer):
    """Hands on its input; arguments have no effect.

    >>> nn.Identity()(paddle.to_tensor([1.0])).tolist()
    [1.0]
    """

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


class Linear(Layer):
    """x @ weight + bias. The weight is [in_features, out_features]; bias_attr=False leaves the bias out.

    >>> layer = nn.Linear(3, 2)
    >>> layer(paddle.ones([4, 3])).shape, layer.weight.shape
    ([4, 2], [3, 2])
    """

    def __init__(self, in_features, out_features, weight_attr=None, bias_attr=None, name=None):
        super().__init__()
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.weight.shape[0]}, out_features={self.weight.shape[1]}, dtype={self._dtype}"


class Bilinear(Layer):
    """x1 @ weight @ x2 + bias. The weight is [out_features, in1_features, in2_features].

    >>> nn.Bilinear(2, 3, 4)(paddle.ones([5, 2]), paddle.ones([5, 3])).shape
    [5, 4]
    """

    def __init__(self, in1_features, in2_features, out_features, weight_attr=None, bias_attr=None, name=None):
        super().__init__()
        self.weight = self.create_parameter([out_features, in1_features, in2_features], weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1, x2):
        return F.bilinear(x1, x2, self.weight, self.bias)


class Embedding(Layer):
    """Rows of a table by id, [num_embeddings, embedding_dim]. The row padding_idx is 0 and stays so; sparse: gradients have the rows of the batch only.

    >>> nn.Embedding(10, 4)(paddle.to_tensor([1, 2, 1])).shape
    [3, 4]
    """

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, sparse=False, weight_attr=None, name=None):
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise InvalidArgumentError(f"Embedding: padding_idx is one of {num_embeddings} rows; found {padding_idx}")
        self._num_embeddings, self._embedding_dim, self._sparse = num_embeddings, embedding_dim, sparse
        self._padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.weight = self.create_parameter([num_embeddings, embedding_dim], weight_attr, default_initializer=initializer.XavierNormal())
        if self._padding_idx is not None:
            parts.clear_row(self.weight, self._padding_idx)

    def forward(self, x):
        return F.embedding(x, self.weight, self._padding_idx, self._sparse)

    def extra_repr(self):
        padding = "" if self._padding_idx is None else f", padding_idx={self._padding_idx}"
        return f"{self._num_embeddings}, {self._embedding_dim}{padding}, sparse={self._sparse}"


class Dropout(Layer):
    """While training, elements become 0 with probability p and the others are divided by 1 - p; those of an axis together where one is given.

    >>> layer = nn.Dropout(0.5)
    >>> layer.eval()
    >>> layer(paddle.ones([3])).tolist()
    [1.0, 1.0, 1.0]
    """

    def __init__(self, p=0.5, axis=None, mode="upscale_in_train", name=None):
        super().__init__()
        self.p, self.axis, self.mode = p, axis, mode

    def forward(self, input):
        return F.dropout(input, self.p, self.axis, self.training, self.mode)

    def extra_repr(self):
        return f"p={self.p}, axis={self.axis}, mode={self.mode}"


class Dropout2D(Layer):
    """While training, whole channels of images become 0 with probability p, and the others are divided by 1 - p.

    >>> sorted(set(nn.Dropout2D(0.5)(paddle.ones([1, 64, 2, 2])).flatten().tolist()))
    [0.0, 2.0]
    """

    _function, _format = staticmethod(F.dropout2d), "NCHW"

    def __init__(self, p=0.5, data_format=None, name=None):
        super().__init__()
        self.p, self.data_format = p, data_format or self._format

    def forward(self, input):
        return self._function(input, self.p, self.training, self.data_format)

    def extra_repr(self):
        return f"p={self.p}, data_format={self.data_format}"


class Dropout3D(Dropout2D):
    """While training, whole channels of volumes become 0 with probability p, and the others are divided by 1 - p.

    >>> nn.Dropout3D(0.5)(paddle.ones([1, 2, 2, 2, 2])).shape
    [1, 2, 2, 2, 2]
    """

    _function, _format = staticmethod(F.dropout3d), "NCDHW"


class AlphaDropout(Layer):
    """Dropout for SELU: mean and variance stay as they are.

    >>> nn.AlphaDropout(0.5)(paddle.ones([2, 3])).shape
    [2, 3]
    """

    def __init__(self, p=0.5, name=None):
        super().__init__()
        self.p = p

    def forward(self, input):
        return F.alpha_dropout(input, self.p, self.training)


class Flatten(Layer):
    """The axes from start_axis to stop_axis as one, as a layer.

    >>> nn.Flatten()(paddle.zeros([2, 3, 4])).shape
    [2, 12]
    """

    def __init__(self, start_axis=1, stop_axis=-1):
        super().__init__()
        self.start_axis, self.stop_axis = start_axis, stop_axis

    def forward(self, input):
        return shapes.flatten(input, self.start_axis, self.stop_axis)


class Unflatten(Layer):
    """One axis split into the sizes of `shape`, of which one may be -1, as a layer.

    >>> nn.Unflatten(1, [2, -1])(paddle.zeros([2, 6])).shape
    [2, 2, 3]
    """

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
    """Margins at the ends of the last axis of [batch, channels, length]: one number, or left and right.

    mode is constant, with `value`, reflect, replicate or circular.

    >>> nn.Pad1D([1, 2])(paddle.ones([1, 1, 2])).tolist()
    [[[0.0, 1.0, 1.0, 0.0, 0.0]]]
    """

    _axes, _format = 1, "NCL"


class Pad2D(_Pad):
    """Margins of images: one number, or left, right, top and bottom. mode is constant, with `value`, reflect, replicate or circular.

    >>> nn.Pad2D(1)(paddle.ones([1, 1, 2, 2])).shape
    [1, 1, 4, 4]
    """


class Pad3D(_Pad):
    """Margins of volumes: one number, or left, right, top, bottom, front and back. mode is constant, with `value`, reflect, replicate or circular.

    >>> nn.Pad3D(1)(paddle.ones([1, 1, 2, 2, 2])).shape
    [1, 1, 4, 4, 4]
    """

    _axes, _format = 3, "NCDHW"


class ZeroPad2D(_Pad):
    """Margins of zeros around images: one number, or left, right, top and bottom.

    >>> nn.ZeroPad2D([1, 0, 0, 0])(paddle.ones([1, 1, 1, 2])).tolist()
    [[[[0.0, 1.0, 1.0]]]]
    """

    def __init__(self, padding, data_format="NCHW", name=None):
        super().__init__(padding, "constant", 0.0, data_format)


class Upsample(Layer):
    """Images in another size, or scaled by a factor, by paddle.nn.functional.interpolate.

    >>> nn.Upsample(scale_factor=2)(paddle.ones([1, 1, 2, 3])).shape
    [1, 1, 4, 6]
    """

    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=False, align_mode=0, data_format="NCHW", name=None):
        super().__init__()
        self._arguments = (size, scale_factor, mode, align_corners, align_mode, data_format)

    def forward(self, x):
        return F.interpolate(x, *self._arguments)


class UpsamplingNearest2D(Upsample):
    """Images enlarged to `size` or by a factor, each pixel that of the nearest place.

    >>> nn.UpsamplingNearest2D(scale_factor=2)(paddle.to_tensor([[[[1.0, 2.0]]]])).tolist()
    [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]]]
    """

    def __init__(self, size=None, scale_factor=None, data_format="NCHW", name=None):
        super().__init__(size, scale_factor, "nearest", False, 0, data_format)


class UpsamplingBilinear2D(Upsample):
    """Images enlarged to `size` or by a factor, by straight lines between pixels; corners stay where they are.

    >>> nn.UpsamplingBilinear2D(size=[1, 3])(paddle.to_tensor([[[[1.0, 2.0]]]])).tolist()
    [[[[1.0, 1.5, 2.0]]]]
    """

    def __init__(self, size=None, scale_factor=None, data_format="NCHW", name=None):
        super().__init__(size, scale_factor, "bilinear", True, 0, data_format)


class CosineSimilarity(Layer):
    """The cosine of the angle between x1 and x2 along `axis`, as a layer.

    >>> nn.CosineSimilarity()(paddle.to_tensor([[1.0, 0.0]]), paddle.to_tensor([[0.0, 2.0]])).tolist()
    [0.0]
    """

    def __init__(self, axis=1, eps=1e-8):
        super().__init__()
        self._axis, self._eps = axis, eps

    def forward(self, x1, x2):
        return F.cosine_similarity(x1, x2, self._axis, self._eps)


class PairwiseDistance(Layer):
    """The p-norm of each row of x - y + epsilon, as a layer.

    >>> print(nn.PairwiseDistance()(paddle.to_tensor([[0.0, 0.0]]), paddle.to_tensor([[3.0, 4.0]])).numpy())
    [4.9999986]
    """

    def __init__(self, p=2.0, epsilon=1e-6, keepdim=False, name=None):
        super().__init__()
        self._arguments = (p, epsilon, keepdim)

    def forward(self, x, y):
        return F.pairwise_distance(x, y, *self._arguments)


class _Shuffle(Layer):
    """A function on images with one number."""

    _function: Callable[..., Any]
    _argument: str

    def __init__(self, number, data_format="NCHW", name=None):
        super().__init__()
        if not isinstance(number, int) or number <= 0:
            raise InvalidArgumentError(f"{type(self).__name__}: {self._argument} is a whole number above 0; found {number!r}")
        channels_behind(data_format, type(self).__name__, 2)
        self._number, self._data_format = number, data_format

    def forward(self, x):
        return self._function(x, self._number, self._data_format)

    def extra_repr(self):
        return f"{self._argument}={self._number}" + ("" if self._data_format == "NCHW" else f", data_format={self._data_format}")


class PixelShuffle(_Shuffle):
    """[batch, channels * r * r, height, width] as [batch, channels, height * r, width * r], as a layer.

    >>> nn.PixelShuffle(2)(paddle.zeros([1, 4, 2, 2])).shape
    [1, 1, 4, 4]
    """

    _function, _argument = staticmethod(F.pixel_shuffle), "upscale_factor"

    def __init__(self, upscale_factor, data_format="NCHW", name=None):
        super().__init__(upscale_factor, data_format)


class PixelUnshuffle(_Shuffle):
    """[batch, channels, height * r, width * r] as [batch, channels * r * r, height, width], as a layer.

    >>> nn.PixelUnshuffle(2)(paddle.zeros([1, 1, 4, 4])).shape
    [1, 4, 2, 2]
    """

    _function, _argument = staticmethod(F.pixel_unshuffle), "downscale_factor"

    def __init__(self, downscale_factor, data_format="NCHW", name=None):
        super().__init__(downscale_factor, data_format)


class ChannelShuffle(_Shuffle):
    """Images whose channels, in `groups`, are taken from each group in turn, as a layer.

    >>> nn.ChannelShuffle(2)(paddle.arange(4, dtype="float32").reshape([1, 4, 1, 1])).flatten().tolist()
    [0.0, 2.0, 1.0, 3.0]
    """

    _function, _argument = staticmethod(F.channel_shuffle), "groups"

    def __init__(self, groups, data_format="NCHW", name=None):
        super().__init__(groups, data_format)


class Unfold(Layer):
    """Images as columns of their windows, [batch, channels * window, windows], as a layer.

    >>> nn.Unfold([2, 2])(paddle.ones([1, 1, 3, 3])).shape
    [1, 4, 4]
    """

    def __init__(self, kernel_sizes, dilations=1, paddings=0, strides=1, name=None):
        super().__init__()
        self.kernel_sizes, self.dilations, self.paddings, self.strides = kernel_sizes, dilations, paddings, strides

    def forward(self, input):
        return F.unfold(input, self.kernel_sizes, self.strides, self.paddings, self.dilations)

    def extra_repr(self):
        return f"kernel_size={self.kernel_sizes}, dilation={self.dilations}, padding={self.paddings}, stride={self.strides}"


class Fold(Unfold):
    """What Unfold made of an image of output_sizes, added up where windows overlap, as a layer.

    >>> nn.Fold([2, 2], 2)(paddle.ones([1, 4, 1])).shape
    [1, 1, 2, 2]
    """

    def __init__(self, output_sizes, kernel_sizes, dilations=1, paddings=0, strides=1, name=None):
        super().__init__(kernel_sizes, dilations, paddings, strides)
        self.output_sizes = output_sizes

    def forward(self, input):
        return F.fold(input, self.output_sizes, self.kernel_sizes, self.strides, self.paddings, self.dilations)
