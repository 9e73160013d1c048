"""Layers with 1.8's arguments: an activation `act`, param_attr, sizes under other names."""

from typing import Any

from argosy import nn
from argosy.dynamic.tensor import Tensor
from argosy.errors import InvalidArgumentError, UnimplementedError
from argosy.fluid import layers
from argosy.fluid.dygraph.layers import Layer
from argosy.graph_mode import refuse_static
from argosy.nn import BatchNorm, BCELoss, L1Loss, MSELoss, NLLLoss
from argosy.nn.norm import SpectralNorm as _SpectralNorm

functions: Any = layers  # on Variables and on tensors

__all__ = [
    "Conv2D",
    "Conv3D",
    "Pool2D",
    "Linear",
    "BatchNorm",
    "Dropout",
    "Embedding",
    "GRUUnit",
    "InstanceNorm",
    "LayerNorm",
    "PRelu",
    "BilinearTensorProduct",
    "Conv2DTranspose",
    "Conv3DTranspose",
    "GroupNorm",
    "SpectralNorm",
    "MSELoss",
    "L1Loss",
    "NLLLoss",
    "BCELoss",
]
_ABSENT = {
    "NCE": "fluid.layers.nce in a program, or paddle.nn.functional.binary_cross_entropy_with_logits on sampled classes",
    "TreeConv": "a model of paddle.nn layers",
}


def __getattr__(name):
    if name in _ABSENT:
        raise AttributeError(f"fluid.dygraph.{name} is not here; use {_ABSENT[name]}")
    raise AttributeError(f"module 'paddle.fluid.dygraph.nn' has no attribute '{name}'")


def _activated(x, act):
    if act is None:
        return x
    found = getattr(functions, act, None)
    if found is None:
        raise InvalidArgumentError(f"act is the name of an activation, such as 'relu'; found {act!r}")
    return found(x)


class _Activated:
    """A layer of paddle.nn of another element type, with an activation behind it."""

    _act = None
    _dtype: Any
    astype: Any

    def _finish(self, act, dtype):
        self._act = act
        if dtype != self._dtype:
            self.astype(dtype)

    def forward(self, *inputs):
        return _activated(super().forward(*inputs), self._act)  # pyright: ignore[reportAttributeAccessIssue]


class Linear(_Activated, nn.Linear):
    """act(input @ weight + bias).

    >>> fluid.dygraph.Linear(3, 2, act="softmax")(paddle.ones([4, 3])).shape
    [4, 2]
    """

    def __init__(self, input_dim, output_dim, param_attr=None, bias_attr=None, act=None, dtype="float32"):
        super().__init__(input_dim, output_dim, param_attr, bias_attr)
        self._finish(act, dtype)


class Conv2D(_Activated, nn.Conv2D):
    """act of a convolution of images [batch, channels, height, width].

    >>> fluid.dygraph.Conv2D(1, 5, 3, act="relu")(paddle.ones([2, 1, 8, 8])).shape
    [2, 5, 6, 6]
    """

    def __init__(
        self,
        num_channels,
        num_filters,
        filter_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=None,
        param_attr=None,
        bias_attr=None,
        use_cudnn=True,
        act=None,
        dtype="float32",
    ):
        super().__init__(num_channels, num_filters, filter_size, stride, padding, dilation, groups or 1, "zeros", param_attr, bias_attr)
        self._finish(act, dtype)


class Conv3D(_Activated, nn.Conv3D):
    """act of a convolution of volumes [batch, channels, depth, height, width].

    >>> fluid.dygraph.Conv3D(1, 2, 3)(paddle.ones([1, 1, 4, 4, 4])).shape
    [1, 2, 2, 2, 2]
    """

    def __init__(
        self,
        num_channels,
        num_filters,
        filter_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=None,
        param_attr=None,
        bias_attr=None,
        use_cudnn=True,
        act=None,
        dtype="float32",
    ):
        super().__init__(num_channels, num_filters, filter_size, stride, padding, dilation, groups or 1, "zeros", param_attr, bias_attr)
        self._finish(act, dtype)


class Conv2DTranspose(Layer):
    """act of the opposite of Conv2D's change of sizes; output_size chooses among those that it would take to the input's.

    >>> fluid.dygraph.Conv2DTranspose(3, 5, 2, stride=2)(paddle.ones([1, 3, 4, 4])).shape
    [1, 5, 8, 8]
    """

    def __init__(
        self,
        num_channels,
        num_filters,
        filter_size,
        output_size=None,
        padding=0,
        stride=1,
        dilation=1,
        groups=None,
        param_attr=None,
        bias_attr=None,
        use_cudnn=True,
        act=None,
        dtype="float32",
    ):
        super().__init__(dtype=dtype)
        self._act, self._output_size = act, output_size
        self._inner = nn.Conv2DTranspose(num_channels, num_filters, filter_size, stride, padding, 0, dilation, groups or 1, param_attr, bias_attr)
        _hoist(self, self._inner)

    def forward(self, input):
        return _activated(self._inner.forward(input, self._output_size), self._act)


def _hoist(layer, inner):
    """The inner layer's parameters are this one's own, under the names that they have in 1.8's state dicts, and of its type."""
    del layer._inner
    if layer._dtype != inner._dtype:
        inner.astype(layer._dtype)
    object.__setattr__(layer, "_inner", inner)
    layer.weight, layer.bias = inner.weight, inner.bias


class Conv3DTranspose(Layer):
    """act of the opposite of Conv3D's change of sizes.

    >>> fluid.dygraph.Conv3DTranspose(1, 2, 2)(paddle.ones([1, 1, 2, 2, 2])).shape
    [1, 2, 3, 3, 3]
    """

    def __init__(
        self,
        num_channels,
        num_filters,
        filter_size,
        padding=0,
        stride=1,
        dilation=1,
        groups=None,
        param_attr=None,
        bias_attr=None,
        use_cudnn=True,
        act=None,
        dtype="float32",
    ):
        super().__init__(dtype=dtype)
        self._act = act
        self._inner = nn.Conv3DTranspose(num_channels, num_filters, filter_size, stride, padding, 0, dilation, groups or 1, param_attr, bias_attr)
        _hoist(self, self._inner)

    def forward(self, input):
        return _activated(self._inner.forward(input), self._act)


class Pool2D(Layer):
    """The largest value ('max') or the mean ('avg') of each window of images; of all of the image where global_pooling.

    >>> fluid.dygraph.Pool2D(pool_size=2, pool_stride=2)(paddle.ones([1, 3, 4, 4])).shape
    [1, 3, 2, 2]
    """

    def __init__(self, pool_size=-1, pool_type="max", pool_stride=1, pool_padding=0, global_pooling=False, use_cudnn=True, ceil_mode=False, exclusive=True):
        super().__init__()
        if pool_type not in ("max", "avg"):
            raise InvalidArgumentError(f"Pool2D: pool_type is 'max' or 'avg'; found {pool_type!r}")
        if pool_size == -1 and not global_pooling:
            raise InvalidArgumentError("Pool2D: pool_size is the size of the window, which only global_pooling=True does without; found -1")
        self._arguments = {
            "pool_size": pool_size,
            "pool_type": pool_type,
            "pool_stride": pool_stride,
            "pool_padding": pool_padding,
            "global_pooling": global_pooling,
            "ceil_mode": ceil_mode,
            "exclusive": exclusive,
        }

    def forward(self, input):
        return functions.pool2d(input, **self._arguments)


class Dropout(Layer):
    """Elements become 0 with probability p while training; with downgrade_in_infer the others stay, and all are multiplied by 1 - p otherwise.

    >>> layer = fluid.dygraph.Dropout(0.25)
    >>> layer.eval()
    >>> layer(paddle.ones([2])).tolist()
    [0.75, 0.75]
    """

    def __init__(self, p=0.5, seed=None, dropout_implementation="downgrade_in_infer", is_test=False):
        super().__init__()
        if seed is not None:
            raise UnimplementedError("fluid.dygraph.Dropout: a layer has no seed of its own here; paddle.seed() sets that of the whole")
        self._p, self._implementation, self._is_test = p, dropout_implementation, is_test

    def forward(self, input):
        test = self._is_test or not self.training
        return functions.dropout(input, self._p, is_test=test, dropout_implementation=self._implementation)


class Embedding(nn.Embedding):
    """Rows of a table of `size` [rows, width] by id.

    >>> fluid.dygraph.Embedding(size=[10, 4])(paddle.to_tensor([1, 2, 1])).shape
    [3, 4]
    """

    def __init__(self, size, is_sparse=False, is_distributed=False, padding_idx=None, param_attr=None, dtype="float32"):
        if is_distributed:
            raise UnimplementedError(
                "fluid.dygraph.Embedding: is_distributed is for programs: fluid.layers.embedding(is_distributed=True) puts a table on servers"
            )
        attr = param_attr if getattr(param_attr, "initializer", None) else _with_xavier(param_attr)
        super().__init__(size[0], size[1], padding_idx, is_sparse, attr)
        if dtype != self._dtype:
            self.astype(dtype)


def _with_xavier(attr):
    """1.8's first values of a table are Xavier's uniform ones, where 2.x has normal ones."""
    from argosy.fluid.initializer import Xavier
    from argosy.fluid.param_attr import ParamAttr, as_attr

    given = as_attr(attr)
    return ParamAttr(name=given.name, initializer=Xavier(), learning_rate=given.learning_rate, regularizer=given.regularizer, trainable=given.trainable)


class LayerNorm(_Activated, nn.LayerNorm):
    """act of mean 0 and variance 1 over the last axes; scale and shift say whether trained ones follow.

    >>> fluid.dygraph.LayerNorm([4], shift=False).bias is None
    True
    """

    def __init__(self, normalized_shape, scale=True, shift=True, epsilon=1e-05, param_attr=None, bias_attr=None, act=None, dtype="float32"):
        super().__init__(normalized_shape, epsilon, param_attr if scale else False, bias_attr if shift else False)
        self._finish(act, dtype)


class InstanceNorm(nn.InstanceNorm2D):
    """Mean 0 and variance 1 of each channel of each image by itself, then a trained scale and shift.

    >>> fluid.dygraph.InstanceNorm(3)(paddle.rand([2, 3, 5, 5])).shape
    [2, 3, 5, 5]
    """

    def __init__(self, num_channels, epsilon=1e-5, param_attr=None, bias_attr=None, dtype="float32"):
        super().__init__(num_channels, epsilon, 0.9, param_attr, bias_attr)
        if dtype != self._dtype:
            self.astype(dtype)


class GroupNorm(_Activated, nn.GroupNorm):
    """act of mean 0 and variance 1 over each of `groups` groups of channels, with a trained scale and shift.

    >>> fluid.dygraph.GroupNorm(channels=4, groups=2)(paddle.rand([1, 4, 2, 2])).shape
    [1, 4, 2, 2]
    """

    def __init__(self, channels, groups, epsilon=1e-05, param_attr=None, bias_attr=None, act=None, data_layout="NCHW", dtype="float32"):
        super().__init__(groups, channels, epsilon, param_attr, bias_attr, data_layout)
        self._finish(act, dtype)


class SpectralNorm(_SpectralNorm):
    """A weight divided by its largest singular value.

    >>> fluid.dygraph.SpectralNorm([2, 3])(paddle.rand([2, 3])).shape
    [2, 3]
    """

    def __init__(self, weight_shape, dim=0, power_iters=1, eps=1e-12, dtype="float32"):
        super().__init__(weight_shape, dim, power_iters, eps)
        if dtype != self._dtype:
            self.astype(dtype)


class PRelu(Layer):
    """x above 0 and weight * x below: one weight for 'all', one for each 'channel' or one for each 'element' of input_shape.

    >>> fluid.dygraph.PRelu("all")(paddle.to_tensor([-4.0, 2.0])).tolist()
    [-1.0, 2.0]
    """

    def __init__(self, mode, channel=None, input_shape=None, param_attr=None, dtype="float32"):
        super().__init__(dtype=dtype)
        shapes = {"all": [1], "channel": [1, channel, 1, 1], "element": [1, *(input_shape or [])[1:]]}
        if mode not in shapes or (mode == "channel" and channel is None) or (mode == "element" and input_shape is None):
            raise InvalidArgumentError(f"PRelu: mode is 'all', 'channel' with channel=, or 'element' with input_shape=; found {mode!r}")
        first = nn.initializer.Constant(0.25)
        self.weight = self.create_parameter(shapes[mode], param_attr, dtype, default_initializer=first)

    def forward(self, input):
        zero = functions.zeros_like(input)
        return functions.elementwise_max(input, zero) + self.weight * functions.elementwise_min(input, zero)


class BilinearTensorProduct(_Activated, nn.Bilinear):
    """act(x @ weight @ y + bias).

    >>> fluid.dygraph.BilinearTensorProduct(2, 3, 4)(paddle.ones([5, 2]), paddle.ones([5, 3])).shape
    [5, 4]
    """

    def __init__(self, input1_dim, input2_dim, output_dim, name=None, act=None, param_attr=None, bias_attr=None, dtype="float32"):
        super().__init__(input1_dim, input2_dim, output_dim, param_attr, bias_attr)
        self._finish(act, dtype)


class GRUUnit(Layer):
    """One step of a GRU of size / 3 units on an input that has the three gates' parts: (hidden, reset hidden, gates).

    >>> unit = fluid.dygraph.GRUUnit(6)
    >>> [one.shape for one in unit(paddle.ones([4, 6]), paddle.ones([4, 2]))]
    [[4, 2], [4, 2], [4, 6]]
    """

    def __init__(self, size, param_attr=None, bias_attr=None, activation="tanh", gate_activation="sigmoid", origin_mode=False, dtype="float32"):
        refuse_static("fluid.dygraph.GRUUnit")
        super().__init__(dtype=dtype)
        self._width, self._origin_mode = size // 3, origin_mode
        self._activation, self._gate = activation, gate_activation
        self.weight = self.create_parameter([self._width, 3 * self._width], param_attr, dtype)
        self.bias = self.create_parameter([1, 3 * self._width], bias_attr, dtype, is_bias=True)

    def forward(self, input, hidden):
        width = self._width
        flat = self.weight._torch.reshape(-1)  # two matrices one after the other, [width, 2 * width] and [width, width]
        of_gates, of_candidate = Tensor(flat[: 2 * width * width].reshape(width, -1)), Tensor(flat[2 * width * width :].reshape(width, width))
        given = input if self.bias is None else input + self.bias
        gates = _activated(given[:, : 2 * width] + functions.matmul(hidden, of_gates), self._gate)
        update, reset = gates[:, :width], gates[:, width:]
        kept = reset * hidden
        candidate = _activated(given[:, 2 * width :] + functions.matmul(kept, of_candidate), self._activation)
        new, old = (1 - update, update) if self._origin_mode else (update, 1 - update)
        return old * hidden + new * candidate, kept, functions.concat([gates, candidate], axis=1)
