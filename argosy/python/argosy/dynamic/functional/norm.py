"""Normalization."""

import torch
from torch.nn import functional

from argosy.dynamic.calls import computes
from argosy.dynamic.functional.formats import channels_behind
from argosy.errors import InvalidArgumentError


@computes
def batch_norm(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.9, epsilon=1e-05, data_format="NCHW", use_global_stats=None, name=None
):
    """x with mean 0 and variance 1 in each channel, then times the weight plus the bias: by the batch while training, by running values otherwise.

    momentum is the share of the running values that stays, and they follow the variance of the batch itself, not an estimate for more. A batch of
    one value per channel has no variance: as in Paddle it goes through as it is, and nothing is learned of it.
    use_global_stats, where given, chooses the running values instead of `training`.

    >>> mean, variance = paddle.zeros([1]), paddle.ones([1])
    >>> print(F.batch_norm(paddle.to_tensor([[1.0], [3.0]]), mean, variance, training=True).numpy().round(3).tolist())
    [[-1.0], [1.0]]
    """
    whole = not training if use_global_stats is None else use_global_stats
    behind = channels_behind(data_format, "batch_norm")
    x = x.movedim(-1, 1) if behind else x
    if whole:
        found = functional.batch_norm(x, running_mean, running_var, weight, bias, False, 0.0, epsilon)
    elif x.numel() == x.shape[1]:
        found = _with_no_gradients(x, weight, bias)
    else:
        mean, variance = torch.zeros_like(running_mean), torch.zeros_like(running_var)  # of this batch; autograd keeps them
        found = torch.batch_norm(x, weight, bias, mean, variance, True, 1.0, epsilon, torch.backends.cudnn.enabled)
        count = x.numel() // x.shape[1]  # torch's variance is the estimate, with n - 1
        with torch.no_grad():
            running_mean.mul_(momentum).add_(mean, alpha=1 - momentum)
            running_var.mul_(momentum).add_(variance, alpha=(1 - momentum) * (count - 1) / count)
    return found.movedim(1, -1) if behind else found


def _with_no_gradients(x, *parameters):
    """x, of which the parameters have gradients of 0."""
    given = [one for one in parameters if one is not None]
    return x + torch.stack(given).sum(0).mul(0).reshape([1, -1, *[1] * (x.dim() - 2)]) if given else x.clone()


@computes
def layer_norm(x, normalized_shape, weight=None, bias=None, epsilon=1e-05, name=None):
    """x with mean 0 and variance 1 over its last axes, of normalized_shape, then times the weight plus the bias.

    >>> print(F.layer_norm(paddle.to_tensor([[1.0, 3.0]]), 2).numpy().round(3).tolist())
    [[-1.0, 1.0]]
    """
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    weight, bias = (one if one is None else one.reshape(shape) for one in (weight, bias))
    return functional.layer_norm(x, shape, weight, bias, epsilon)


@computes
def group_norm(x, num_groups, epsilon=1e-05, weight=None, bias=None, data_format="NCHW", name=None):
    """Images with mean 0 and variance 1 over each of num_groups groups of channels, then times the weight plus the bias.

    >>> print(F.group_norm(paddle.to_tensor([[[1.0], [3.0]]]), 1).numpy().round(3).tolist())
    [[[-1.0], [1.0]]]
    """
    behind = channels_behind(data_format, "group_norm")
    found = functional.group_norm(x.movedim(-1, 1) if behind else x, num_groups, weight, bias, epsilon)
    return found.movedim(1, -1) if behind else found


@computes
def instance_norm(x, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.9, eps=1e-05, data_format="NCHW", name=None):
    """Images with mean 0 and variance 1 in each channel by itself: running values are never used.

    >>> print(F.instance_norm(paddle.to_tensor([[[1.0, 3.0]]])).numpy().round(3).tolist())
    [[[-1.0, 1.0]]]
    """
    if channels_behind(data_format, "instance_norm") or not use_input_stats:
        raise InvalidArgumentError(f"instance_norm: use_input_stats is True and channels are in front here; found {use_input_stats}, {data_format!r}")
    if x.dim() == 2:  # a channel of one value is its mean
        return instance_norm.__wrapped__(x.unsqueeze(-1), None, None, weight, bias, True, momentum, eps).squeeze(-1)
    if x[0, 0].numel() == 1:
        zero = torch.zeros_like(x)
        return zero if bias is None else zero + bias.reshape([1, -1] + [1] * (x.dim() - 2))
    return functional.instance_norm(x, None, None, weight, bias, True, 1 - momentum, eps)


@computes
def local_response_norm(x, size, alpha=1e-4, beta=0.75, k=1.0, data_format="NCHW", name=None):
    """x divided by (k + alpha * the mean of squares over `size` neighbouring channels) ** beta.

    >>> F.local_response_norm(paddle.zeros([1, 3, 2, 2]), size=3).shape
    [1, 3, 2, 2]
    """
    if channels_behind(data_format, "local_response_norm"):
        raise InvalidArgumentError(f"local_response_norm: channels are in front here; found {data_format!r}")
    return functional.local_response_norm(x, size, alpha, beta, k)
