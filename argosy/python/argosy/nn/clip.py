"""Limits on the size of gradients, under their 2.x names."""
from argosy.fluid import clip

__all__ = ["ClipGradByValue", "ClipGradByNorm", "ClipGradByGlobalNorm"]


class ClipGradByValue(clip.GradientClipByValue):
    def __init__(self, max, min=None):
        super().__init__(max, min)


class ClipGradByNorm(clip.GradientClipByNorm):
    def __init__(self, clip_norm):
        super().__init__(clip_norm)


class ClipGradByGlobalNorm(clip.GradientClipByGlobalNorm):
    """auto_skip_clip saves Paddle a product by one; the result is the same."""

    def __init__(self, clip_norm, group_name="default_group", auto_skip_clip=False):
        super().__init__(clip_norm, group_name)
