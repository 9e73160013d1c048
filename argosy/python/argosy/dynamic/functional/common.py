"""Products with weights, lookups, dropout, padding and sizes of images."""
import torch
from torch.nn import functional

from argosy.dynamic import dtypes
from argosy.dynamic.calls import computes
from argosy.dynamic.functional.formats import channels_behind
from argosy.errors import InvalidArgumentError


@computes
def linear(x, weight, bias=None, name=None):
    """x @ weight + bias; the weight is [in, out]."""
    return functional.linear(x, weight.t(), bias)


@computes
def bilinear(x1, x2, weight, bias=None, name=None):
    return functional.bilinear(x1, x2, weight, None if bias is None else bias.reshape(-1))


@computes
def embedding(x, weight, padding_idx=None, sparse=False, name=None):
    """Rows of weight by id. padding_idx's are 0 and take no gradient."""
    found = functional.embedding(x, weight, padding_idx, sparse=sparse)
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
    """Elements become 0 with probability p while training; those of an axis together where one is given."""
    if axis is None and mode == "upscale_in_train":
        return functional.dropout(x, p, training)
    return _dropped(x, p, axis, training, mode)


def _channels(data_format, last):
    return [0, last] if data_format.endswith("C") else [0, 1]


@computes
def dropout2d(x, p=0.5, training=True, data_format="NCHW", name=None):
    """Whole channels become 0."""
    return _dropped(x, p, _channels(data_format, 3), training, "upscale_in_train")


@computes
def dropout3d(x, p=0.5, training=True, data_format="NCDHW", name=None):
    return _dropped(x, p, _channels(data_format, 4), training, "upscale_in_train")


@computes
def alpha_dropout(x, p=0.5, training=True, name=None):
    return functional.alpha_dropout(x, p, training)


@computes
def normalize(x, p=2, axis=1, epsilon=1e-12, name=None):
    return functional.normalize(x, float(p), axis, epsilon)


@computes
def cosine_similarity(x1, x2, axis=1, eps=1e-8, name=None):
    return functional.cosine_similarity(x1, x2, axis, eps)


@computes
def pairwise_distance(x, y, p=2.0, epsilon=1e-6, keepdim=False, name=None):
    return functional.pairwise_distance(x, y, p, epsilon, keepdim)


@computes
def label_smooth(label, prior_dist=None, epsilon=0.1, name=None):
    return (1 - epsilon) * label + epsilon * (1 / label.shape[-1] if prior_dist is None else prior_dist)


@computes
def pad(x, pad, mode="constant", value=0.0, data_format="NCHW", pad_from_left_axis=True, name=None):
    """2 numbers an axis: of every axis from the first one on, or of the last axes that are neither batch nor channel, from the last one on."""
    widths = pad.tolist() if isinstance(pad, torch.Tensor) else list(pad)
    if len(widths) == 2 * x.dim() and mode == "constant":
        pairs = [widths[i:i + 2] for i in range(0, len(widths), 2)]
        return functional.pad(x, [width for pair in reversed(pairs) for width in pair], value=value)
    behind = data_format.endswith("C") and x.dim() > 2
    x = x.movedim(-1, 1) if behind else x
    padded = functional.pad(x, widths, mode, value) if mode == "constant" else functional.pad(x, widths, mode)
    return padded.movedim(1, -1) if behind else padded


@computes
def zeropad2d(x, padding, data_format="NCHW", name=None):
    widths = [padding] * 4 if isinstance(padding, int) else list(padding)
    return functional.pad(x.movedim(-1, 1), widths).movedim(1, -1) if data_format == "NHWC" else functional.pad(x, widths)


@computes
def interpolate(x, size=None, scale_factor=None, mode="nearest", align_corners=False, align_mode=0, data_format="NCHW", name=None):
    """align_mode=1 is for mode 'linear', 'bilinear' and 'trilinear', which take their samples here as torch does."""
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
    return _images(lambda image: functional.pixel_shuffle(image, upscale_factor), x, data_format, "pixel_shuffle")


def _images(function, x, data_format, what):
    """function(x) with the channels in front."""
    return function(x.movedim(-1, 1)).movedim(1, -1) if channels_behind(data_format, what, 2) else function(x)


@computes
def pixel_unshuffle(x, downscale_factor, data_format="NCHW", name=None):
    return _images(lambda image: functional.pixel_unshuffle(image, downscale_factor), x, data_format, "pixel_unshuffle")


@computes
def channel_shuffle(x, groups, data_format="NCHW", name=None):
    return _images(lambda image: functional.channel_shuffle(image, groups), x, data_format, "channel_shuffle")


@computes
def sequence_mask(x, maxlen=None, dtype="int64", name=None):
    """Row i has x[i] ones."""
    length = int(x.max()) if maxlen is None else int(maxlen)
    return (torch.arange(length, device=x.device) < x.unsqueeze(-1)).to(dtypes.to_torch(dtype))


@computes
def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, training=True, name=None):
    """On [batch, length, heads, width]."""
    turned = [one.transpose(1, 2) for one in (query, key, value)]
    return functional.scaled_dot_product_attention(*turned, attn_mask, dropout_p if training else 0.0, is_causal).transpose(1, 2)
