"""Layers of encoders and decoders, and the whole of them."""

import numpy

from argosy.creation import to_tensor
from argosy.dynamic import dtypes
from argosy.dynamic import functional as F
from argosy.errors import InvalidArgumentError
from argosy.nn.attention import MultiHeadAttention, added_mask, check_sizes, shared_attr
from argosy.nn.common import Dropout, Linear
from argosy.nn.containers import LayerList
from argosy.nn.layer import Layer
from argosy.nn.norm import LayerNorm

__all__ = ["TransformerEncoderLayer", "TransformerEncoder", "TransformerDecoderLayer", "TransformerDecoder", "Transformer"]


def _attrs(attr, count, what):
    """One attribute for each part: a list has them, anything else is that of all. True is the usual one."""
    if isinstance(attr, (list, tuple)) and len(attr) != count:
        raise InvalidArgumentError(f"{what} is one attribute, or a list of {count}; found {len(attr)}")
    each = list(attr) if isinstance(attr, (list, tuple)) else [attr] * count
    return [None if one is True else shared_attr(one, what) for one in each]


class _Block(Layer):
    """Attention and two products, each added to its input."""

    _attentions = ("self_attn",)

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward,
        dropout=0.1,
        activation="relu",
        attn_dropout=None,
        act_dropout=None,
        normalize_before=False,
        weight_attr=None,
        bias_attr=None,
    ):
        super().__init__()
        what, steps = type(self).__name__, len(self._attentions) + 1
        check_sizes(what, d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        if activation not in F.__all__:
            raise InvalidArgumentError(f"{what}: activation is a function of paddle.nn.functional; found {activation!r}")
        self._config = dict(
            d_model=d_model,
            nhead=nhead,
            dim_feedforward=dim_feedforward,
            dropout=dropout,
            activation=activation,
            attn_dropout=attn_dropout,
            act_dropout=act_dropout,
            normalize_before=normalize_before,
            weight_attr=weight_attr,
            bias_attr=bias_attr,
        )
        self.normalize_before, self.activation = normalize_before, getattr(F, activation)
        attrs = list(zip(_attrs(weight_attr, steps, f"{what}(weight_attr=…)"), _attrs(bias_attr, steps, f"{what}(bias_attr=…)")))
        for name, (weight, bias) in zip(self._attentions, attrs):
            self.add_sublayer(name, MultiHeadAttention(d_model, nhead, dropout if attn_dropout is None else attn_dropout, weight_attr=weight, bias_attr=bias))
        self.linear1 = Linear(d_model, dim_feedforward, *attrs[-1])
        self.dropout = Dropout(dropout if act_dropout is None else act_dropout)
        self.linear2 = Linear(dim_feedforward, d_model, *attrs[-1])
        for step in range(1, steps + 1):
            self.add_sublayer(f"norm{step}", LayerNorm(d_model))
        for step in range(1, steps + 1):
            self.add_sublayer(f"dropout{step}", Dropout(dropout))

    def _added(self, step, x, compute):
        """x + compute(x), normalized before or after; compute(x) may be (what is added, a cache). Returns (the sum, the cache)."""
        norm, dropout = getattr(self, f"norm{step}"), getattr(self, f"dropout{step}")
        found = compute(norm(x) if self.normalize_before else x)
        change, cache = found if isinstance(found, tuple) else (found, None)
        total = x + dropout(change)
        return (total if self.normalize_before else norm(total)), cache

    def _products(self, x):
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Block):
    """Positions look at each other, then two products of each: [batch, length, d_model]. normalize_before normalizes inputs instead of results.

    >>> nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16)(paddle.rand([1, 5, 8])).shape
    [1, 5, 8]
    """

    def forward(self, src, src_mask=None, cache=None):
        src, cache = self._added(1, src, lambda x: self.self_attn(x, x, x, src_mask, cache))
        src, _ = self._added(2, src, self._products)
        return src if cache is None else (src, cache)

    def gen_cache(self, src):
        return self.self_attn.gen_cache(src)


class TransformerDecoderLayer(_Block):
    """Positions look at each other, and at the memory that an encoder has made, then two products of each: [batch, length, d_model].

    >>> layer = nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> layer(paddle.rand([1, 3, 8]), paddle.rand([1, 5, 8])).shape
    [1, 3, 8]
    """

    _attentions = ("self_attn", "cross_attn")

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, cache=None):
        own, fixed = (None, None) if cache is None else cache
        tgt, own = self._added(1, tgt, lambda x: self.self_attn(x, x, x, tgt_mask, own))
        tgt, fixed = self._added(2, tgt, lambda x: self.cross_attn(x, memory, memory, memory_mask, fixed))
        tgt, _ = self._added(3, tgt, self._products)
        return tgt if cache is None else (tgt, (own, fixed))

    def gen_cache(self, memory):
        return self.self_attn.gen_cache(memory), self.cross_attn.gen_cache(memory, memory, MultiHeadAttention.StaticCache)


class _Stack(Layer):
    """A layer and copies of it, made anew, one after another; `norm` behind the last."""

    def __init__(self, layer, num_layers, norm):
        super().__init__()
        self.layers = LayerList([layer if i == 0 else type(layer)(**layer._config) for i in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def _run(self, x, compute, cache):
        """compute(layer, x, its cache) for each layer."""
        caches = []
        for i, layer in enumerate(self.layers):
            x = compute(layer, x, None if cache is None else cache[i])
            if cache is not None:
                x, new = x
                caches.append(new)
        x = x if self.norm is None else self.norm(x)
        return x if cache is None else (x, caches)


class TransformerEncoder(_Stack):
    """num_layers layers like encoder_layer, made anew, one after another; `norm` behind the last.

    >>> layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> nn.TransformerEncoder(layer, 2)(paddle.rand([1, 5, 8])).shape
    [1, 5, 8]
    """

    def __init__(self, encoder_layer, num_layers, norm=None):
        super().__init__(encoder_layer, num_layers, norm)

    def forward(self, src, src_mask=None, cache=None):
        mask = _mask(src_mask, src)
        return self._run(src, lambda layer, x, kept: layer(x, src_mask=mask, **({} if kept is None else {"cache": kept})), cache)

    def gen_cache(self, src):
        return [layer.gen_cache(src) for layer in self.layers]


class TransformerDecoder(_Stack):
    """num_layers layers like decoder_layer, made anew, one after another; `norm` behind the last. Called with the target and an encoder's memory.

    >>> layer = nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> nn.TransformerDecoder(layer, 2)(paddle.rand([1, 3, 8]), paddle.rand([1, 5, 8])).shape
    [1, 3, 8]
    """

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__(decoder_layer, num_layers, norm)

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, cache=None):
        masks = {"tgt_mask": _mask(tgt_mask, tgt), "memory_mask": _mask(memory_mask, memory)}
        return self._run(tgt, lambda layer, x, kept: layer(x, memory, **masks, cache=kept), cache)

    def gen_cache(self, memory, do_zip=False):
        """One for each layer; with do_zip those of the layers' own positions, and those of the memory."""
        found = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*found)) if do_zip else found


def _mask(mask, x):
    return added_mask(mask, x.dtype)


def _parts(attr, what):
    """(attributes of an encoder's layer, of a decoder's): attention, the memory's attention and the products have one each in a list of 3."""
    if not isinstance(attr, (list, tuple)):
        return attr, attr
    if len(attr) not in (1, 2, 3):
        raise InvalidArgumentError(f"{what} is one attribute, or a list of 1 to 3; found {len(attr)}")
    return [attr[0], attr[-1]], list(attr) if len(attr) == 3 else [attr[0], attr[0], attr[-1]]


class Transformer(Layer):
    """An encoder of `src` and a decoder of `tgt` that looks at what it makes. Inputs are [batch, length, d_model].

    >>> model = nn.Transformer(d_model=8, nhead=2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=16)
    >>> model(paddle.rand([1, 5, 8]), paddle.rand([1, 3, 8])).shape
    [1, 3, 8]
    """

    def __init__(
        self,
        d_model=512,
        nhead=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        attn_dropout=None,
        act_dropout=None,
        normalize_before=False,
        weight_attr=None,
        bias_attr=None,
        custom_encoder=None,
        custom_decoder=None,
    ):
        super().__init__()
        check_sizes("Transformer", d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        options = (d_model, nhead, dim_feedforward, dropout, activation, attn_dropout, act_dropout, normalize_before)
        attrs = list(zip(_parts(weight_attr, "Transformer(weight_attr=…)"), _parts(bias_attr, "Transformer(bias_attr=…)")))
        self.encoder = (
            custom_encoder
            if custom_encoder is not None
            else TransformerEncoder(TransformerEncoderLayer(*options, *attrs[0]), num_encoder_layers, LayerNorm(d_model))
        )
        self.decoder = (
            custom_decoder
            if custom_decoder is not None
            else TransformerDecoder(TransformerDecoderLayer(*options, *attrs[1]), num_decoder_layers, LayerNorm(d_model))
        )
        self.d_model, self.nhead = d_model, nhead

    def forward(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None):
        memory = self.encoder(src, src_mask=_mask(src_mask, src))
        return self.decoder(tgt, memory, tgt_mask=_mask(tgt_mask, tgt), memory_mask=_mask(memory_mask, memory))

    def generate_square_subsequent_mask(self, length):
        """Added to scores, it hides what comes after each position."""
        return to_tensor(numpy.triu(numpy.full((length, length), float("-inf"), "float32"), 1), dtypes.get_default_dtype())
