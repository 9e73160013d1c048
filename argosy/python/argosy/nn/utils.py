"""paddle.nn.utils: limits on the gradients that backward() has left."""

import torch

from argosy.dynamic.tensor import Tensor
from argosy.errors import InvalidArgumentError

__all__ = ["clip_grad_norm_", "clip_grad_value_"]

_NORMS = (float("inf"), 0, 1, 2)


def _with_gradients(parameters):
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [one._torch for one in given if one._torch.grad is not None]


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False):
    """Scales the gradients, as one vector, to a norm of at most max_norm. Returns the norm that they had.

    >>> x = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
    >>> (x * x).sum().backward()
    >>> paddle.nn.utils.clip_grad_norm_([x], max_norm=5.0).item(), x.grad.norm().item()
    (10.0, 5.0)
    """
    if norm_type not in _NORMS:
        raise InvalidArgumentError(f"clip_grad_norm_: norm_type is one of {', '.join(map(str, _NORMS))}; found {norm_type!r}")
    found = _with_gradients(parameters)
    if not found:
        return Tensor(torch.tensor(0.0))
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(one.grad, norm_type) for one in found]), norm_type)
    if error_if_nonfinite and not torch.isfinite(norm):
        raise InvalidArgumentError(
            f"clip_grad_norm_: the norm of the gradients is {norm.item()}, which cannot be scaled; look for the step that made "
            "it so, or leave error_if_nonfinite out"
        )
    share = (float(max_norm) / (norm + 1e-6)).clamp(max=1.0)
    for one in found:
        one.grad = one.grad * share
    return Tensor(norm)


def clip_grad_value_(parameters, clip_value):
    """Limits each element of the gradients to the range from -clip_value to clip_value.

    >>> x = paddle.to_tensor([3.0, -4.0], stop_gradient=False)
    >>> (x * x).sum().backward()
    >>> paddle.nn.utils.clip_grad_value_([x], 7.0)
    >>> x.grad.tolist()
    [6.0, -7.0]
    """
    if clip_value < 0:
        raise InvalidArgumentError(f"clip_grad_value_: clip_value is 0 or more; found {clip_value}")
    for one in _with_gradients(parameters):
        one.grad = one.grad.clamp(-clip_value, clip_value)
