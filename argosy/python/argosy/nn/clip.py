"""Limits on the size of gradients, under their 2.x names."""

from argosy.fluid import clip

__all__ = ["ClipGradByValue", "ClipGradByNorm", "ClipGradByGlobalNorm"]


class ClipGradByValue(clip.GradientClipByValue):
    """Limits each element of the gradients to the range from `min`, -max unless given, to `max`. For the argument grad_clip of optimizers.

    >>> layer = nn.Linear(2, 1)
    >>> optimizer = paddle.optimizer.SGD(0.1, layer.parameters(), grad_clip=nn.ClipGradByValue(1.0))
    """

    def __init__(self, max, min=None):
        super().__init__(max, min)


class ClipGradByNorm(clip.GradientClipByNorm):
    """Limits the norm of each parameter's gradient to clip_norm. For the argument grad_clip of optimizers.

    >>> layer = nn.Linear(2, 1)
    >>> optimizer = paddle.optimizer.SGD(0.1, layer.parameters(), grad_clip=nn.ClipGradByNorm(1.0))
    """

    def __init__(self, clip_norm):
        super().__init__(clip_norm)


class ClipGradByGlobalNorm(clip.GradientClipByGlobalNorm):
    """Limits the norm of all gradients of a group together to clip_norm. For the argument grad_clip of optimizers.

    auto_skip_clip saves Paddle a product by one; the result is the same.

    >>> layer = nn.Linear(2, 1)
    >>> optimizer = paddle.optimizer.SGD(0.1, layer.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
    """

    def __init__(self, clip_norm, group_name="default_group", auto_skip_clip=False):
        super().__init__(clip_norm, group_name)
