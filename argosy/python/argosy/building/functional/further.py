"""Shuffles of pixels, sizes of images, patches, and losses that are seldom used."""

import math
from typing import Any

from argosy import tensor as T
from argosy.building.functional.images import conv2d
from argosy.building.operators import constant
from argosy.building.reductions import _uniform_like, bernoulli
from argosy.building.shapes import moveaxis, repeat_interleave
from argosy.errors import InvalidArgumentError
from argosy.fluid import layers
from argosy.nn.functional import both_graphs as F
from argosy.nn.functional.both_graphs import reduced

__all__ = [
    "channel_shuffle",
    "pixel_shuffle",
    "pixel_unshuffle",
    "interpolate",
    "upsample",
    "unfold",
    "npair_loss",
    "poisson_nll_loss",
    "gaussian_nll_loss",
    "multi_margin_loss",
    "rrelu",
    "alpha_dropout",
]


def _images(function, x, data_format):
    """function(x) with the channels in front."""
    return moveaxis(function(moveaxis(x, -1, 1)), 1, -1) if data_format == "NHWC" else function(x)


def channel_shuffle(x, groups, data_format="NCHW", name=None):
    def shuffled(image):
        _, channels, height, width = image.shape
        grouped = layers.reshape(image, [-1, groups, channels // groups, height, width])
        return layers.reshape(layers.transpose(grouped, [0, 2, 1, 3, 4]), [-1, channels, height, width])

    return _images(shuffled, x, data_format)


def pixel_shuffle(x, upscale_factor, data_format="NCHW", name=None):
    r = upscale_factor

    def shuffled(image):
        _, channels, height, width = image.shape
        parts = layers.reshape(image, [-1, channels // r**2, r, r, height, width])
        return layers.reshape(layers.transpose(parts, [0, 1, 4, 2, 5, 3]), [-1, channels // r**2, height * r, width * r])

    return _images(shuffled, x, data_format)


def pixel_unshuffle(x, downscale_factor, data_format="NCHW", name=None):
    r = downscale_factor

    def shuffled(image):
        _, channels, height, width = image.shape
        parts = layers.reshape(image, [-1, channels, height // r, r, width // r, r])
        return layers.reshape(layers.transpose(parts, [0, 1, 3, 5, 2, 4]), [-1, channels * r**2, height // r, width // r])

    return _images(shuffled, x, data_format)


def _weights(size, wanted, factor, align_corners, align_mode):
    """[wanted, size]: the share of each old line in each new one."""
    import numpy

    made, shrinks = numpy.zeros([wanted, size], "float32"), (1.0 / factor if factor else size / wanted)
    for i in range(wanted):
        place = i * (size - 1) / max(wanted - 1, 1) if align_corners else i * shrinks if align_mode == 1 else max((i + 0.5) * shrinks - 0.5, 0.0)
        low = min(int(place), size - 1)
        made[i, low] += 1 - (place - low)
        made[i, min(low + 1, size - 1)] += place - low
    return made


def _bilinear(x, axes, factors, size, align_corners, align_mode):
    sizes = [x.shape[axis] for axis in axes]
    if any(one < 0 for one in sizes):
        raise InvalidArgumentError(f"interpolate: 'bilinear' needs images of a known size; variable '{x.name}' has shape {list(x.shape)}")
    wanted = [int(one) for one in size] if size is not None else [int(one * factor) for one, factor in zip(sizes, factors, strict=True)]
    given = [None, None] if size is not None else factors
    tall, wide = (constant(_weights(one, want, factor, align_corners, align_mode), x.dtype) for one, want, factor in zip(sizes, wanted, given, strict=True))
    images = x if axes == [2, 3] else moveaxis(x, 3, 1)
    found = T.matmul(T.matmul(tall, images), wide, transpose_y=True)
    return found if axes == [2, 3] else moveaxis(found, 1, 3)


def interpolate(x, size=None, scale_factor: Any = None, mode="nearest", align_corners=False, align_mode=0, data_format="NCHW", name=None):
    axes = [1, 2] if data_format == "NHWC" else [2, 3]
    given = scale_factor if isinstance(scale_factor, (list, tuple)) else [scale_factor] * 2
    size = [size] * 2 if isinstance(size, int) else size
    factors = given if size is None else [wanted / x.shape[axis] for wanted, axis in zip(size, axes, strict=True)]
    if mode == "bilinear" and len(x.shape) == 4:
        return _bilinear(x, axes, factors, size, align_corners, align_mode)
    if mode != "nearest" or len(x.shape) != 4 or any(one is None or one <= 0 for one in factors):
        raise InvalidArgumentError(f"interpolate: variables are images, by mode 'bilinear' or 'nearest'; found {mode!r}, factors {factors}")
    for i, (axis, factor) in enumerate(zip(axes, factors, strict=True)):
        x = _nearest(x, axis, factor, None if size is None else int(size[i]))
    return x


def _nearest(x, axis, factor, wanted):
    """Along an axis the element that lies below each place: `wanted` of them, or `factor` times as many as there are."""
    if factor >= 1 and factor == int(factor):
        return repeat_interleave(x, int(factor), axis)
    if x.shape[axis] < 0:
        raise InvalidArgumentError(f"interpolate: 'nearest' by {factor} needs images of a known size; variable '{x.name}' has shape {list(x.shape)}")
    wanted = int(x.shape[axis] * factor) if wanted is None else wanted
    return T.gather(x, constant([min(int(place / factor), x.shape[axis] - 1) for place in range(wanted)], "int64"), axis=axis)


upsample = interpolate


def unfold(x, kernel_sizes, strides=1, paddings=0, dilations=1, name=None):
    import numpy

    height, width = [kernel_sizes] * 2 if isinstance(kernel_sizes, int) else kernel_sizes
    count = x.shape[1] * height * width
    picks = constant(numpy.eye(count, dtype="float32").reshape(count, x.shape[1], height, width), x.dtype)
    top, left, *rest = [paddings] * 2 if isinstance(paddings, int) else paddings
    margins = [[top, rest[0]], [left, rest[1]]] if rest else [top, left]
    return layers.reshape(conv2d(x, picks, stride=strides, padding=margins, dilation=dilations), [0, count, -1])


def npair_loss(anchor, positive, labels, l2_reg=0.002, name=None):
    labels = layers.reshape(labels, [-1, 1])
    together = layers.cast(layers.equal(T.matmul(layers.ones_like(labels), labels, transpose_y=True), labels), "float32")
    together = together / T.sum(together, 1, keepdim=True)
    of_row = -T.sum(together * F.log_softmax(T.matmul(anchor, positive, transpose_y=True), 1), 1, keepdim=True)
    lengths = T.mean(T.sum(T.square(anchor), 1)) + T.mean(T.sum(T.square(positive), 1))
    return lengths * (0.25 * l2_reg) + T.mean(T.sum(together * of_row, 0))


def poisson_nll_loss(input, label, log_input=True, full=False, epsilon=1e-8, reduction="mean", name=None):
    label = layers.cast(label, input.dtype)
    loss = T.exp(input) - label * input if log_input else input - label * T.log(input + epsilon)
    if full:
        many = layers.cast(label > 1.0, input.dtype)
        count = T.clip(label, 1.0, None)
        loss = loss + many * (count * T.log(count) - count + T.log(count * (2 * math.pi)) * 0.5)
    return reduced(loss, reduction)


def gaussian_nll_loss(input, label, variance, full=False, epsilon=1e-6, reduction="mean", name=None):
    spread = T.clip(layers.unsqueeze(variance, [-1]) if len(variance.shape) < len(input.shape) else variance, epsilon, None).detach()
    loss = (T.log(spread) + T.square(input - label) / spread) * 0.5
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def multi_margin_loss(input, label, p=1, margin=1.0, weight=None, reduction="mean", name=None):
    shown = F.one_hot(layers.reshape(label, [-1]), input.shape[1])
    over = layers.relu(margin - T.sum(input * shown, 1, keepdim=True) + input)
    if weight is None:
        return reduced(T.mean(T.pow(over, p), 1) - margin**p / input.shape[1], reduction)
    of_label = T.sum(shown * weight, 1, keepdim=True)
    own = layers.squeeze(of_label, [1]) * (margin**p / input.shape[1])
    return reduced(T.mean(T.pow(over * of_label, p), 1) - own, reduction)


def rrelu(x, lower=1 / 8, upper=1 / 3, training=True, name=None):
    slope = _uniform_like(x) * (upper - lower) + lower if training else (lower + upper) / 2
    return layers.relu(x) - layers.relu(-x) * slope


def alpha_dropout(x, p=0.5, training=True, name=None):
    if not training or p == 0:
        return x
    if p == 1:
        return x * 0.0
    least = -1.7580993408473766  # minus scale * alpha of selu: what a dropped element becomes
    kept = bernoulli(layers.scale(layers.zeros_like(x), bias=1 - p))
    scale = ((1 - p) * (1 + p * least**2)) ** -0.5
    return (x * kept + (1.0 - kept) * least) * scale - scale * p * least
