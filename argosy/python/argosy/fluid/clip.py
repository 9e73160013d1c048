"""Limits on the size of gradients."""

from typing import Any

from argosy import _core
from argosy._core import GradientClip as GradientClipBase
from argosy.errors import InvalidArgumentError
from argosy.fluid import framework

__all__ = ["GradientClipBase", "GradientClipByValue", "GradientClipByNorm", "GradientClipByGlobalNorm", "set_gradient_clip"]


def _by_name(need_clip) -> Any:
    """The filter of parameters as the core calls it: with a name, in the program that is being built."""
    if need_clip is None:
        return None
    if not callable(need_clip):
        raise InvalidArgumentError(f"need_clip is a function from a parameter to True or False; found {type(need_clip).__name__}")
    return lambda name: bool(need_clip(framework.default_main_program().global_block().var(name)))


class GradientClipByValue(GradientClipBase):
    """Every element of the gradients between min (-max where None) and max; of those parameters that need_clip, a function, accepts.

    >>> optimizer = fluid.optimizer.SGD(0.1, grad_clip=fluid.clip.GradientClipByValue(1.0))
    """

    def __init__(self, max, min=None, need_clip=None):
        super().__init__(_core.clip_by_value(max, min, _by_name(need_clip)))


class GradientClipByNorm(GradientClipBase):
    """Each gradient scaled so that its norm is at most clip_norm; of those parameters that need_clip, a function, accepts.

    >>> optimizer = fluid.optimizer.SGD(0.1, grad_clip=fluid.clip.GradientClipByNorm(1.0))
    """

    def __init__(self, clip_norm, need_clip=None):
        super().__init__(_core.clip_by_norm(clip_norm, _by_name(need_clip)))


class GradientClipByGlobalNorm(GradientClipBase):
    """All gradients of a group scaled by one factor, so that their common norm is at most clip_norm; of those that need_clip accepts.

    >>> optimizer = fluid.optimizer.SGD(0.1, grad_clip=fluid.clip.GradientClipByGlobalNorm(1.0))
    """

    def __init__(self, clip_norm, group_name="default_group", need_clip=None):
        super().__init__(_core.clip_by_global_norm(clip_norm, group_name, _by_name(need_clip)))


def set_gradient_clip(clip, param_list=None, program=None):
    """Clips the gradients of `param_list` (parameters or names; all where None) of `program` from the next minimize on.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 2]), 1)
    >>> fluid.clip.set_gradient_clip(fluid.clip.GradientClipByNorm(1.0))
    """
    if not isinstance(clip, GradientClipBase):
        raise InvalidArgumentError(f"set_gradient_clip takes one of fluid.clip's classes; found {type(clip).__name__}")
    block = (framework.default_main_program() if program is None else program).global_block()
    chosen = block.all_parameters() if param_list is None else param_list
    for parameter in chosen:
        parameter = block.var(parameter) if isinstance(parameter, str) else parameter
        if not isinstance(parameter, framework.Parameter):
            raise InvalidArgumentError(f"set_gradient_clip: '{parameter.name}' is not a parameter")
        parameter.gradient_clip_attr = clip
