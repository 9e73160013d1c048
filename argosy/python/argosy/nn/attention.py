"""MultiHeadAttention."""

import collections

from argosy import _core, tensor
from argosy.dynamic import casting
from argosy.dynamic import functional as F
from argosy.dynamic.creation import is_floating_point
from argosy.dynamic.tensor import Tensor, unwrap
from argosy.errors import InvalidArgumentError
from argosy.nn.common import Linear
from argosy.nn.layer import Layer

__all__ = ["MultiHeadAttention", "added_mask", "check_sizes", "shared_attr"]

_NEVER = 1e9  # what a place that a mask leaves out is lowered by


def check_sizes(what, **sizes):
    for name, size in sizes.items():
        if size <= 0:
            raise InvalidArgumentError(f"{what}: {name} is above 0; found {size}")


def shared_attr(attr, what):
    """An attribute that several parameters have: it has no name."""
    if isinstance(attr, str) or (isinstance(attr, _core.ParamAttr) and attr.name is not None):
        raise InvalidArgumentError(f"{what}: several parameters would be called {getattr(attr, 'name', attr)!r}; leave the name out of the attribute")
    return attr


def added_mask(mask, dtype):
    """What to add to the scores. Of booleans and integers, 0 leaves a place out; floats are added as they are."""
    if mask is None:
        return None
    return mask.astype(dtype) if is_floating_point(mask) else (mask.astype(dtype) - 1) * _NEVER


def _swapped(x):
    """[batch, heads, length, size] for [batch, length, heads, size], and back."""
    return tensor.transpose(x, [0, 2, 1, 3])


class MultiHeadAttention(Layer):
    """Each position of the query takes a mean of the values, weighted by how its key fits; [batch, length, size], in num_heads parts of the size.

    Cache holds the keys and values of earlier positions and grows with each call; StaticCache holds those of a fixed memory.

    >>> nn.MultiHeadAttention(embed_dim=8, num_heads=2)(paddle.rand([1, 5, 8])).shape
    [1, 5, 8]
    """

    Cache = collections.namedtuple("Cache", ["k", "v"])
    StaticCache = collections.namedtuple("StaticCache", ["k", "v"])

    def __init__(self, embed_dim, num_heads, dropout=0.0, kdim=None, vdim=None, need_weights=False, weight_attr=None, bias_attr=None):
        super().__init__()
        check_sizes("MultiHeadAttention", embed_dim=embed_dim, num_heads=num_heads)
        if embed_dim % num_heads:
            raise InvalidArgumentError(f"MultiHeadAttention: embed_dim can be divided by num_heads; found {embed_dim} and {num_heads}")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self.dropout, self.need_weights = dropout, need_weights
        attrs = (shared_attr(weight_attr, "MultiHeadAttention(weight_attr=…)"), shared_attr(bias_attr, "MultiHeadAttention(bias_attr=…)"))
        self.q_proj = Linear(embed_dim, embed_dim, *attrs)
        self.k_proj = Linear(self.kdim, embed_dim, *attrs)
        self.v_proj = Linear(self.vdim, embed_dim, *attrs)
        self.out_proj = Linear(embed_dim, embed_dim, *attrs)

    def _heads(self, x):
        """[batch, length, size] as [batch, heads, length, size of a head]."""
        return _swapped(tensor.reshape(x, [0, 0, self.num_heads, self.head_dim]))

    def compute_kv(self, key, value):
        return self._heads(self.k_proj(key)), self._heads(self.v_proj(value))

    def gen_cache(self, key, value=None, type=Cache):
        """A StaticCache of key and value; or a Cache of given keys and values, without any where `value` is left out."""
        if type is self.StaticCache:
            return self.StaticCache(*self.compute_kv(key, key if value is None else value))
        if type is not self.Cache:
            raise InvalidArgumentError(f"gen_cache: type is MultiHeadAttention.Cache or StaticCache; found {type!r}")
        if value is not None:
            return self.Cache(key, value)
        return self.Cache(*(Tensor(unwrap(key).new_zeros(key.shape[0], self.num_heads, 0, self.head_dim)) for _ in "kv"))

    def _kv(self, key, value, cache):
        """(keys, values, the cache with them)."""
        k, v = (cache.k, cache.v) if isinstance(cache, self.StaticCache) else self.compute_kv(key, value)
        if not isinstance(cache, self.Cache):
            return k, v, cache
        k, v = (tensor.concat([old, new], 2) for old, new in ((cache.k, k), (cache.v, v)))
        return k, v, self.Cache(k, v)

    def _attend(self, q, k, v, mask):
        """(means of the values [batch, length, heads, size], weights). torch's own function has no weights to show, and no lists of auto_cast."""
        if not self.need_weights and not casting.active():
            return F.scaled_dot_product_attention(_swapped(q), _swapped(k), _swapped(v), mask, self.dropout, training=self.training), None
        scores = tensor.matmul(q * self.head_dim**-0.5, k, transpose_y=True)
        weights = F.dropout(F.softmax(scores if mask is None else scores + mask), self.dropout, training=self.training)
        return _swapped(tensor.matmul(weights, v)), weights

    def forward(self, query, key=None, value=None, attn_mask=None, cache=None):
        """The result, then the weights where need_weights, then the new cache where one is given."""
        q = self._heads(self.q_proj(query))
        k, v, cache = self._kv(query if key is None else key, query if value is None else value, cache)
        found, weights = self._attend(q, k, v, added_mask(attn_mask, q.dtype))
        outputs = (
            self.out_proj(tensor.reshape(found, [0, 0, self.embed_dim])),
            *((weights,) if self.need_weights else ()),
            *(() if cache is None else (cache,)),
        )
        return outputs if len(outputs) > 1 else outputs[0]
