"""Limits on the size of gradients."""

from typing import Any

from argosy import _core
from argosy.dispatch import is_tensor
from argosy.errors import InvalidArgumentError
from argosy.fluid import framework

__all__ = ["GradientClipBase", "GradientClipByValue", "GradientClipByNorm", "GradientClipByGlobalNorm", "append_gradient_clip_ops", "set_gradient_clip"]
_LARGEST = 3.0e38  # no gradient is beyond it


def _by_name(need_clip) -> Any:
    """The filter of parameters as the core calls it: with a name, in the program that is being built."""
    if need_clip is None:
        return None
    if not callable(need_clip):
        raise InvalidArgumentError(f"need_clip is a function from a parameter to True or False; found {type(need_clip).__name__}")
    return lambda name: bool(need_clip(framework.default_main_program().global_block().var(name)))


class GradientClipBase(_core.GradientClip):
    """What limits gradients: called with [(parameter, gradient), …], it gives the same with other gradients. A class of one's own has __call__.

    >>> class Half(fluid.clip.GradientClipBase):
    ...     def __call__(self, params_grads):
    ...         return [(parameter, gradient * 0.5) for parameter, gradient in params_grads]
    >>> optimizer = fluid.optimizer.SGD(0.1, grad_clip=Half())
    """

    def __init__(self, limit=None, need_clip=None):
        super().__init__(_core.clip_by_value(_LARGEST, None, _by_name(need_clip)) if limit is None else limit)

    def __call__(self, params_grads):
        if any(is_tensor(gradient) for _, gradient in params_grads):
            from argosy.dynamic.tensor import unwrap, wrap
            from argosy.optimizer.dynamic import clipped

            given = [(parameter, unwrap(gradient)) for parameter, gradient in params_grads if gradient is not None]
            return [(parameter, wrap(gradient)) for parameter, gradient in clipped(self, given)]
        return _clipped(self, [(parameter, gradient) for parameter, gradient in params_grads if gradient is not None])


def _clipped(clip, pairs):
    """The pairs with the outputs of one operator as the gradients of those that the clip is for."""
    chosen = [i for i, (parameter, _) in enumerate(pairs) if clip.applies_to(parameter.name)]
    if not chosen:
        return pairs
    block = pairs[0][0].block.program.global_block()
    old = [pairs[i][1] for i in chosen]
    new = [block.create_var(name=_core.unique_name(one.name + "@CLIP"), dtype=one.dtype, shape=one.shape) for one in old]
    attrs = {"kind": clip.kind, "min": clip.min, "max": clip.max, "clip_norm": clip.clip_norm}
    block.append_op(type="clip_gradients", inputs={"X": old}, outputs={"Out": new}, attrs=attrs)
    found = list(pairs)
    for i, gradient in zip(chosen, new, strict=True):
        found[i] = (pairs[i][0], gradient)
    return found


def is_own(clip):
    """Whether a clip is of a script's own class, or a plain function: it is called, where the others are known to the core."""
    return clip is not None and callable(clip) and not (isinstance(clip, GradientClipBase) and type(clip).__call__ is GradientClipBase.__call__)


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


def append_gradient_clip_ops(param_grads):
    """[(parameter, gradient), …] after the clips that set_gradient_clip, or the parameters' attributes, ask for.

    >>> loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1))
    >>> pairs = fluid.backward.append_backward(loss)
    >>> fluid.clip.set_gradient_clip(fluid.clip.GradientClipByValue(1.0))
    >>> len(fluid.clip.append_gradient_clip_ops(pairs))
    2
    """
    by_clip: dict[Any, Any] = {}
    for pair in param_grads:
        clip = pair[0].gradient_clip_attr if pair[1] is not None else None
        key = None if clip is None else (clip.kind, clip.clip_norm, clip.min, clip.max, clip.group_name)
        by_clip.setdefault(key, (clip, []))[1].append(pair)
    return [pair for clip, pairs in by_clip.values() for pair in (pairs if clip is None else _clipped(clip, pairs))]
