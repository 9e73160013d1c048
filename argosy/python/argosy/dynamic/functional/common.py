"""Products with weights, lookups, dropout, padding and sizes of images."""

import torch
from torch.nn import functional

from argosy.dynamic import dtypes
from argosy.dynamic.calls import computes
from argosy.dynamic.functional.formats import channels_behind
from argosy.errors import InvalidArgumentError, OutOfRangeError


@computes
def linear(x, weight, bias=None, name=None):
    if weight.dim() == 2:
        return functional.linear(x, weight.t(), bias)
    return torch.matmul(x, weight) if bias is None else torch.matmul(x, weight) + bias


@computes
def bilinear(x1, x2, weight, bias=None, name=None):
    """x1 @ weight @ x2 + bias for each of the first axis of the weight, which is [out, in of x1, in of x2].

    >>> F.bilinear(paddle.ones([1, 2]), paddle.ones([1, 3]), paddle.ones([4, 2, 3])).tolist()
    [[6.0, 6.0, 6.0, 6.0]]
    """
    return functional.bilinear(x1, x2, weight, None if bias is None else bias.reshape(-1))


@computes
def embedding(x, weight, padding_idx=None, sparse=False, name=None):
    try:
        found = functional.embedding(x, weight, padding_idx, sparse=sparse)
    except IndexError as error:
        outside = ((x < 0) | (x >= weight.shape[0])).flatten()
        at = int(outside.nonzero()[0])
        raise OutOfRangeError(f"embedding: id {int(x.flatten()[at])} at position {at} is outside the table with {weight.shape[0]} rows") from error
    if padding_idx is None:
        return found
    return found.masked_fill((x == padding_idx % weight.shape[0]).unsqueeze(-1), 0)


@computes
def one_hot(x, num_classes, name=None):
    return functional.one_hot(x.long(), int(num_classes)).to(dtypes.default())


def _dropped(x, p, axis, training, mode):
    if mode not in ("upscale_in_train", "downscale_in_infer"):
        raise InvalidArgumentError(f"dropout: mode is 'upscale_in_train' or 'downscale_in_infer'; found {mode!r}")
    if not training:
        return x * (1 - p) if mode == "downscale_in_infer" else x
    axes = range(x.dim()) if axis is None else [axis] if isinstance(axis, int) else axis
    shape = [size if i in axes else 1 for i, size in enumerate(x.shape)]
    kept = torch.empty(shape, dtype=x.dtype, device=x.device).bernoulli_(1 - p)
    return x * kept if mode == "downscale_in_infer" or p == 1 else x * kept / (1 - p)


@computes
def dropout(x, p=0.5, axis=None, training=True, mode="upscale_in_train", name=None):
    if axis is None and mode == "upscale_in_train":
        return functional.dropout(x, p, training)
    return _dropped(x, p, axis, training, mode)


def _channels(data_format, last):
    return [0, last] if data_format.endswith("C") else [0, 1]


@computes
def dropout2d(x, p=0.5, training=True, data_format="NCHW", name=None):
    """While training, whole channels of images become 0 with probability p, and the others are divided by 1 - p.

    >>> F.dropout2d(paddle.ones([1, 2, 2, 2]), training=False).sum().item()
    8.0
    """
    return _dropped(x, p, _channels(data_format, 3), training, "upscale_in_train")


@computes
def dropout3d(x, p=0.5, training=True, data_format="NCDHW", name=None):
    """While training, whole channels of volumes become 0 with probability p, and the others are divided by 1 - p.

    >>> F.dropout3d(paddle.ones([1, 2, 2, 2, 2]), training=False).sum().item()
    16.0
    """
    return _dropped(x, p, _channels(data_format, 4), training, "upscale_in_train")


@computes
def alpha_dropout(x, p=0.5, training=True, name=None):
    """dropout for selu: mean and variance stay as they are.

    >>> F.alpha_dropout(paddle.ones([3]), training=False).tolist()
    [1.0, 1.0, 1.0]
    """
    return functional.alpha_dropout(x, p, training)


@computes
def normalize(x, p=2, axis=1, epsilon=1e-12, name=None):
    return functional.normalize(x, float(p), axis, epsilon)


@computes
def cosine_similarity(x1, x2, axis=1, eps=1e-8, name=None):
    return functional.cosine_similarity(x1, x2, axis, eps)


@computes
def pairwise_distance(x, y, p=2.0, epsilon=1e-6, keepdim=False, name=None):
    """The p-norm of each row of x - y + epsilon.

    >>> print(F.pairwise_distance(paddle.to_tensor([[0.0, 0.0]]), paddle.to_tensor([[3.0, 4.0]])).numpy())
    [4.9999986]
    """
    return functional.pairwise_distance(x, y, p, epsilon, keepdim)


@computes
def label_smooth(label, prior_dist=None, epsilon=0.1, name=None):
    """(1 - epsilon) * label + epsilon * prior_dist, or an even share for each class where there is none.

    >>> print(F.label_smooth(paddle.to_tensor([[0.0, 1.0]])).numpy())
    [[0.05 0.95]]
    """
    return (1 - epsilon) * label + epsilon * (1 / label.shape[-1] if prior_dist is None else prior_dist)


@computes
def pad(x, pad, mode="constant", value=0.0, data_format="NCHW", pad_from_left_axis=True, name=None):
    """x with margins. 2 numbers for an axis: of every axis from the first one on, or of the last axes, neither batch nor channel, from the last one on.

    mode is constant, with `value`, reflect, replicate or circular.

    >>> F.pad(paddle.to_tensor([[1.0, 2.0]]), [0, 0, 1, 2]).tolist()
    [[0.0, 1.0, 2.0, 0.0, 0.0]]
    """
    widths = pad.tolist() if isinstance(pad, torch.Tensor) else list(pad)
    if len(widths) == 2 * x.dim() and mode == "constant":
        pairs = [widths[i : i + 2] for i in range(0, len(widths), 2)]
        return functional.pad(x, [width for pair in reversed(pairs) for width in pair], value=value)
    behind = data_format.endswith("C") and x.dim() > 2
    x = x.movedim(-1, 1) if behind else x
    padded = functional.pad(x, widths, mode, value) if mode == "constant" else functional.pad(x, widths, mode)
    return padded.movedim(1, -1) if behind else padded


@computes
def zeropad2d(x, padding, data_format="NCHW", name=None):
    """Images with margins of zeros: left, right, top and bottom, or one number for all.

    >>> F.zeropad2d(paddle.ones([1, 1, 2, 2]), [1, 0, 0, 0]).tolist()
    [[[[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]]]
    """
    widths = [padding] * 4 if isinstance(padding, int) else list(padding)
    return functional.pad(x.movedim(-1, 1), widths).movedim(1, -1) if data_format == "NHWC" else functional.pad(x, widths)


@computes
def interpolate(x, size=None, scale_factor=None, mode="nearest", align_corners=False, align_mode=0, data_format="NCHW", name=None):
    """Images in another size, or scaled by a factor: nearest, linear, bilinear, bicubic, trilinear or area, for the number of axes.

    align_corners places the corners of both on each other. align_mode is 0 here: samples are taken as torch takes them.

    >>> F.interpolate(paddle.arange(4, dtype="float32").reshape([1, 1, 2, 2]), scale_factor=2).shape
    [1, 1, 4, 4]
    """
    if align_mode != 0:
        raise InvalidArgumentError("interpolate: align_mode is 0 here")
    behind = data_format.endswith("C")
    x = x.movedim(-1, 1) if behind else x
    size = [int(one) for one in size] if isinstance(size, (list, tuple, torch.Tensor)) else size
    corners = align_corners if mode in ("linear", "bilinear", "bicubic", "trilinear") else None
    found = functional.interpolate(x, size, scale_factor, mode, corners)
    return found.movedim(1, -1) if behind else found


upsample = interpolate


@computes
def pixel_shuffle(x, upscale_factor, data_format="NCHW", name=None):
    """[batch, channels * r * r, height, width] as [batch, channels, height * r, width * r].

    >>> F.pixel_shuffle(paddle.zeros([1, 4, 2, 2]), 2).shape
    [1, 1, 4, 4]
    """
    return _images(lambda image: functional.pixel_shuffle(image, upscale_factor), x, data_format, "pixel_shuffle")


def _images(function, x, data_format, what):
    """function(x) with the channels in front."""
    return function(x.movedim(-1, 1)).movedim(1, -1) if channels_behind(data_format, what, 2) else function(x)


@computes
def pixel_unshuffle(x, downscale_factor, data_format="NCHW", name=None):
    """[batch, channels, height * r, width * r] as [batch, channels * r * r, height, width].

    >>> F.pixel_unshuffle(paddle.zeros([1, 1, 4, 4]), 2).shape
    [1, 4, 2, 2]
    """
    return _images(lambda image: functional.pixel_unshuffle(image, downscale_factor), x, data_format, "pixel_unshuffle")


@computes
def channel_shuffle(x, groups, data_format="NCHW", name=None):
    """Images whose channels, in `groups`, are taken from each group in turn.

    >>> F.channel_shuffle(paddle.arange(4, dtype="float32").reshape([1, 4, 1, 1]), 2).flatten().tolist()
    [0.0, 2.0, 1.0, 3.0]
    """
    return _images(lambda image: functional.channel_shuffle(image, groups), x, data_format, "channel_shuffle")


@computes
def sequence_mask(x, maxlen=None, dtype="int64", name=None):
    """Row i has x[i] ones and then zeros; `maxlen` of them, or as many as the longest needs.

    >>> F.sequence_mask(paddle.to_tensor([1, 3])).tolist()
    [[1, 0, 0], [1, 1, 1]]
    """
    length = int(x.max()) if maxlen is None else int(maxlen)
    return (torch.arange(length, device=x.device) < x.unsqueeze(-1)).to(dtypes.to_torch(dtype))


@computes
def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, training=True, name=None):
    """softmax(query @ key / sqrt(width) + attn_mask) @ value, on [batch, length, heads, width]; is_causal lets a place see those before it only.

    >>> F.scaled_dot_product_attention(*[paddle.ones([1, 3, 2, 4])] * 3).shape
    [1, 3, 2, 4]
    """
    query, key, value = (one.transpose(1, 2) for one in (query, key, value))
    return functional.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p if training else 0.0, is_causal).transpose(1, 2)
