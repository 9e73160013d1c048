"""Products with weights, dropout, padding, attention."""

import math

from argosy import tensor as T
from argosy.building.contractions import einsum
from argosy.building.operators import constant
from argosy.errors import InvalidArgumentError
from argosy.fluid import layers
from argosy.nn.functional import both_graphs as F

__all__ = ["bilinear", "dropout2d", "dropout3d", "pairwise_distance", "label_smooth", "pad", "zeropad2d", "sequence_mask", "scaled_dot_product_attention"]


def bilinear(x1, x2, weight, bias=None, name=None):
    found = einsum("bi,oij,bj->bo", x1, weight, x2)
    return found if bias is None else found + bias


def dropout2d(x, p=0.5, training=True, data_format="NCHW", name=None):
    return F.dropout(x, p, [0, 3] if data_format.endswith("C") else [0, 1], training)


def dropout3d(x, p=0.5, training=True, data_format="NCDHW", name=None):
    return F.dropout(x, p, [0, 4] if data_format.endswith("C") else [0, 1], training)


def pairwise_distance(x, y, p=2.0, epsilon=1e-6, keepdim=False, name=None):
    from argosy.building.reductions import norm

    return norm(x - y + epsilon, p, -1, keepdim)


def label_smooth(label, prior_dist=None, epsilon=0.1, name=None):
    return layers.label_smooth(label, prior_dist=prior_dist, epsilon=epsilon)


def pad(x, pad, mode="constant", value=0.0, data_format="NCHW", pad_from_left_axis=True, name=None):
    widths, rank = [int(width) for width in pad], len(x.shape)
    if mode != "constant":
        raise InvalidArgumentError(f"pad: mode is 'constant' for variables; found {mode!r}")
    if len(widths) == 2 * rank:
        return layers.pad(x, widths, pad_value=value)
    behind = data_format.endswith("C") and rank > 2
    pairs = [widths[i : i + 2] for i in range(0, len(widths), 2)][::-1]
    before = rank - len(pairs) - behind
    return layers.pad(x, [0, 0] * before + [width for pair in pairs for width in pair] + [0, 0] * behind, pad_value=value)


def zeropad2d(x, padding, data_format="NCHW", name=None):
    return pad(x, [padding] * 4 if isinstance(padding, int) else padding, data_format=data_format)


def sequence_mask(x, maxlen=None, dtype="int64", name=None):
    return layers.sequence_mask(x, maxlen=maxlen, dtype=dtype)


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, training=True, name=None):
    import numpy

    query, key, value = (layers.transpose(one, [0, 2, 1, 3]) for one in (query, key, value))
    scores = T.matmul(query, key, transpose_y=True) * (1 / math.sqrt(query.shape[-1]))
    if is_causal:
        length = scores.shape[-1]
        if length < 0:
            raise InvalidArgumentError("scaled_dot_product_attention: is_causal needs a length that is known when the program is built; give an attn_mask")
        scores = scores + constant(numpy.triu(numpy.full([length, length], -1e9, "float32"), 1))
    scores = scores if attn_mask is None else scores + attn_mask
    weights = F.dropout(F.softmax(scores), dropout_p, training=training) if dropout_p else F.softmax(scores)
    return layers.transpose(T.matmul(weights, value), [0, 2, 1, 3])
