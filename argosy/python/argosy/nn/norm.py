"""Normalization layers. Running values are buffers named _mean and _variance, as in Paddle's state dicts."""

import torch

from argosy import _core
from argosy.dispatch import builds_as
from argosy.dynamic import dtypes
from argosy.dynamic import functional as F
from argosy.dynamic.functional.formats import channels_behind
from argosy.dynamic.tensor import Tensor
from argosy.errors import InvalidArgumentError
from argosy.nn import initializer, parts
from argosy.nn.layer import Layer

__all__ = [
    "BatchNorm",
    "BatchNorm1D",
    "BatchNorm2D",
    "BatchNorm3D",
    "SyncBatchNorm",
    "LayerNorm",
    "GroupNorm",
    "InstanceNorm1D",
    "InstanceNorm2D",
    "InstanceNorm3D",
    "LocalResponseNorm",
    "SpectralNorm",
]


def _statistics_dtype():
    """Running values of float16 would lose what a batch adds; they stay float32, as in Paddle."""
    return "float32" if dtypes.get_default_dtype() == "float16" else None


class _BatchNorm(Layer):
    _axes, _format = (2, 3, 4, 5), "NCHW"
    _running_names = (None, None)  # of mean and variance; None: named after the layer

    def __init__(self, num_features, momentum=0.9, epsilon=1e-05, weight_attr=None, bias_attr=None, data_format=None, use_global_stats=None, name=None):
        super().__init__(dtype=_statistics_dtype())
        channels_behind(data_format or self._format, type(self).__name__)
        self._num_features, self._momentum, self._epsilon = num_features, momentum, epsilon
        self._data_format, self._use_global_stats = data_format or self._format, use_global_stats
        self.weight = self.create_parameter([num_features], weight_attr, default_initializer=initializer.Constant(1.0))
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)
        for buffer, value, given in zip(("_mean", "_variance"), (0.0, 1.0), self._running_names, strict=True):
            self.register_buffer(buffer, parts.buffer([num_features], value, self._dtype, given or self._part_name()))

    def forward(self, input):
        if input.ndim not in self._axes:
            raise InvalidArgumentError(f"{type(self).__name__} takes {' or '.join(map(str, self._axes))} axes; found shape {input.shape}")
        return F.batch_norm(
            input, self._mean, self._variance, self.weight, self.bias, self.training, self._momentum, self._epsilon, self._data_format, self._use_global_stats
        )

    def extra_repr(self):
        shown = f"num_features={self._num_features}, momentum={self._momentum}, epsilon={self._epsilon}"
        return shown if self._data_format in ("NCHW", "NCL", "NCDHW") else f"{shown}, data_format={self._data_format}"


class BatchNorm1D(_BatchNorm):
    """Mean 0 and variance 1 of each channel of [batch, channels] or [batch, channels, length] over the batch, then a trained scale and shift.

    While training by the batch, otherwise by running values, of which the share momentum stays at each step.

    >>> nn.BatchNorm1D(3)(paddle.rand([4, 3])).shape
    [4, 3]
    """

    _axes, _format = (2, 3), "NCL"


class BatchNorm2D(_BatchNorm):
    """Mean 0 and variance 1 of each channel of images over the batch, then a trained scale and shift.

    While training by the batch, otherwise by running values, of which the share momentum stays at each step.

    >>> layer = nn.BatchNorm2D(3)
    >>> layer(paddle.rand([4, 3, 2, 2])).shape, layer._mean.shape
    ([4, 3, 2, 2], [3])
    """

    _axes = (4,)


class BatchNorm3D(_BatchNorm):
    """Mean 0 and variance 1 of each channel of volumes over the batch, then a trained scale and shift.

    >>> nn.BatchNorm3D(3)(paddle.rand([4, 3, 2, 2, 2])).shape
    [4, 3, 2, 2, 2]
    """

    _axes, _format = (5,), "NCDHW"


class BatchNorm(_BatchNorm):
    """1.x's batch normalization: for any number of axes, with an activation `act`, and with names of its own for what it takes.

    >>> nn.BatchNorm(3, act="relu")(paddle.rand([4, 3, 2, 2])).shape
    [4, 3, 2, 2]
    """

    def __init__(
        self,
        num_channels,
        act=None,
        is_test=False,
        momentum=0.9,
        epsilon=1e-05,
        param_attr=None,
        bias_attr=None,
        dtype="float32",
        data_layout="NCHW",
        in_place=False,
        moving_mean_name=None,
        moving_variance_name=None,
        do_model_average_for_mean_and_var=True,
        use_global_stats=False,
        trainable_statistics=False,
    ):
        object.__setattr__(self, "_running_names", (moving_mean_name, moving_variance_name))
        super().__init__(num_channels, momentum, epsilon, param_attr, bias_attr, data_layout, use_global_stats or None)
        self._act, self._is_test, self._trainable_statistics = act, is_test, trainable_statistics

    def forward(self, input):
        training = self._trainable_statistics or (self.training and not self._is_test)
        found = F.batch_norm(
            input, self._mean, self._variance, self.weight, self.bias, training, self._momentum, self._epsilon, self._data_format, self._use_global_stats
        )
        return found if self._act is None else getattr(F, self._act)(found)


class SyncBatchNorm(_BatchNorm):
    """Batch normalization over the batches of all processes, which may be of different sizes; with one process it is BatchNorm.

    >>> nn.SyncBatchNorm(3)(paddle.rand([4, 3, 2, 2])).shape
    [4, 3, 2, 2]
    """

    def forward(self, x):
        from argosy.distributed import job

        if self._use_global_stats or not self.training or job.place().world_size == 1:
            return super().forward(x)
        if x.ndim not in self._axes:
            raise InvalidArgumentError(f"SyncBatchNorm takes {' or '.join(map(str, self._axes))} axes; found shape {x.shape}")
        behind = self._data_format.endswith("C")
        found = _core.sync_batch_norm(
            job.world(),
            x._torch.movedim(-1, 1) if behind else x._torch,
            _torch(self.weight),
            _torch(self.bias),
            self._mean._torch,
            self._variance._torch,
            1 - self._momentum,
            self._epsilon,
        )
        return Tensor(found.movedim(1, -1) if behind else found)

    @classmethod
    def convert_sync_batchnorm(cls, layer):
        """`layer` with a SyncBatchNorm, of the same parameters, for every batch normalization inside."""
        if isinstance(layer, _BatchNorm) and not isinstance(layer, SyncBatchNorm):
            made = cls(layer._num_features, layer._momentum, layer._epsilon, layer.weight is not None, layer.bias is not None, layer._data_format)
            made._parameters.update(layer._parameters)
            made._buffers.update(layer._buffers)
            made.training = layer.training
            return made
        for name, part in layer.named_children():
            layer._sub_layers[name] = cls.convert_sync_batchnorm(part)
        return layer


def _torch(tensor):
    return None if tensor is None else tensor._torch


class LayerNorm(Layer):
    """Mean 0 and variance 1 over the last axes, of normalized_shape, then a trained scale and shift.

    >>> print(nn.LayerNorm(2)(paddle.to_tensor([[1.0, 3.0]])).numpy().round(3).tolist())
    [[-1.0, 1.0]]
    """

    def __init__(self, normalized_shape, epsilon=1e-05, weight_attr=None, bias_attr=None, name=None):
        super().__init__()
        self._normalized_shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        self._epsilon = epsilon
        size = [torch.Size(self._normalized_shape).numel()]
        self.weight = self.create_parameter(size, weight_attr, default_initializer=initializer.Constant(1.0))
        self.bias = self.create_parameter(size, bias_attr, is_bias=True)

    def forward(self, input):
        return F.layer_norm(input, self._normalized_shape, self.weight, self.bias, self._epsilon)

    def extra_repr(self):
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


class GroupNorm(Layer):
    """Mean 0 and variance 1 over each of num_groups groups of channels, then a trained scale and shift.

    >>> nn.GroupNorm(2, 4)(paddle.rand([1, 4, 2, 2])).shape
    [1, 4, 2, 2]
    """

    def __init__(self, num_groups, num_channels, epsilon=1e-05, weight_attr=None, bias_attr=None, data_format="NCHW", name=None):
        super().__init__()
        channels_behind(data_format, type(self).__name__)
        self._num_groups, self._num_channels, self._epsilon, self._data_format = num_groups, num_channels, epsilon, data_format
        self.weight = self.create_parameter([num_channels], weight_attr, default_initializer=initializer.Constant(1.0))
        self.bias = self.create_parameter([num_channels], bias_attr, is_bias=True)

    def forward(self, input):
        return F.group_norm(input, self._num_groups, self._epsilon, self.weight, self.bias, self._data_format)

    def extra_repr(self):
        return f"num_groups={self._num_groups}, num_channels={self._num_channels}, epsilon={self._epsilon}"


class _InstanceNorm(Layer):
    def __init__(self, num_features, epsilon=1e-05, momentum=0.9, weight_attr=None, bias_attr=None, data_format="NCHW", name=None):
        super().__init__()
        channels_behind(data_format, type(self).__name__)
        self._num_features, self._epsilon, self._data_format = num_features, epsilon, data_format
        self.scale = self.create_parameter([num_features], weight_attr, default_initializer=initializer.Constant(1.0))
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)

    def forward(self, input):
        return F.instance_norm(input, weight=self.scale, bias=self.bias, eps=self._epsilon, data_format=self._data_format)

    def extra_repr(self):
        return f"num_features={self._num_features}, epsilon={self._epsilon}"


class InstanceNorm1D(_InstanceNorm):
    """Mean 0 and variance 1 of each channel of each sample [channels, length] by itself, then a trained scale and shift.

    >>> nn.InstanceNorm1D(3)(paddle.rand([2, 3, 5])).shape
    [2, 3, 5]
    """


class InstanceNorm2D(_InstanceNorm):
    """Mean 0 and variance 1 of each channel of each image by itself, then a trained scale and shift.

    >>> nn.InstanceNorm2D(3)(paddle.rand([2, 3, 5, 5])).shape
    [2, 3, 5, 5]
    """


class InstanceNorm3D(_InstanceNorm):
    """Mean 0 and variance 1 of each channel of each volume by itself, then a trained scale and shift.

    >>> nn.InstanceNorm3D(3)(paddle.rand([2, 3, 2, 5, 5])).shape
    [2, 3, 2, 5, 5]
    """


class SpectralNorm(Layer):
    """A weight divided by its largest singular value, which power_iters steps from weight_u and weight_v find; these stay as they are.

    >>> nn.SpectralNorm([3, 4])(paddle.rand([3, 4])).shape
    [3, 4]
    """

    def __init__(self, weight_shape, dim=0, power_iters=1, eps=1e-12, dtype="float32"):
        super().__init__(dtype=dtype)
        sizes = list(weight_shape)
        if not all(size > 0 for size in sizes) or not 0 <= dim < len(sizes):
            raise InvalidArgumentError(f"SpectralNorm: weight_shape has sizes above 0, and dim is one of its axes; found {sizes} and dim {dim}")
        self._dim, self._power_iters, self._eps = dim, power_iters, eps
        rows, count = sizes[dim], torch.Size(sizes).numel()
        self.weight_u, self.weight_v = (self.create_parameter([size], default_initializer=initializer.Normal()) for size in (rows, count // rows))
        self.weight_u.stop_gradient = self.weight_v.stop_gradient = True

    @builds_as("spectral_norm")
    def forward(self, x):
        matrix = x._torch.movedim(self._dim, 0).flatten(1)
        u, v = self.weight_u._torch, self.weight_v._torch
        with torch.no_grad():
            for _ in range(self._power_iters):
                v = matrix.t() @ u
                v = v / (v.norm() + self._eps)
                u = matrix @ v
                u = u / (u.norm() + self._eps)
        return Tensor(x._torch / (u @ matrix @ v))


class LocalResponseNorm(Layer):
    """x divided by (k + alpha * the mean of squares over `size` neighbouring channels) ** beta, as a layer.

    >>> nn.LocalResponseNorm(3)(paddle.rand([1, 4, 2, 2])).shape
    [1, 4, 2, 2]
    """

    def __init__(self, size, alpha=0.0001, beta=0.75, k=1.0, data_format="NCHW", name=None):
        super().__init__()
        channels_behind(data_format, type(self).__name__)
        self._arguments = (size, alpha, beta, k, data_format)

    def forward(self, input):
        return F.local_response_norm(input, *self._arguments)
