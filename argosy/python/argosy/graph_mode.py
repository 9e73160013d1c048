"""Which graph names that exist for both of them are for. Light: without torch and NumPy.

Functions look at their arguments first: a Variable builds and a Tensor computes in either mode. Only what has no such argument, as
paddle.zeros([2]), goes by the mode. It is dynamic from the start, as in 2.x; those of fluid's layer functions build, but after 1.x's own words
for the dynamic graph, fluid.dygraph.guard() and fluid.enable_dygraph().
"""

import contextlib

from argosy.errors import FailedPreconditionError

__all__ = [
    "enable_static",
    "disable_static",
    "in_dynamic_mode",
    "in_dygraph_mode",
    "enable_dygraph",
    "disable_dygraph",
    "guard",
    "refuse_static",
    "restored",
    "saved",
    "layers_compute",
]

_state: dict[str, str | None] = {"mode": None, "layers": None}  # None, as long as the script has not said which


def enable_static():
    """From now on functions without a Tensor or a Variable build programs.

    >>> paddle.enable_static()
    >>> paddle.in_dynamic_mode()
    False
    >>> paddle.disable_static()
    """
    _state.update(mode="static", layers=None)


def disable_static(place=None):
    """From now on functions compute, which is also where a script starts; on `place` where one is given.

    >>> paddle.disable_static()
    >>> paddle.in_dynamic_mode()
    True
    """
    if place is not None:
        from argosy import device

        device.use(place)
    _state["mode"] = "dynamic"


def enable_dygraph(place=None):
    """1.x's disable_static(): from now on fluid's layer functions compute too.

    >>> fluid.enable_dygraph()
    >>> fluid.layers.ones([2], "float32").tolist()
    [1.0, 1.0]
    >>> fluid.disable_dygraph()
    """
    disable_static(place)
    _state["layers"] = "compute"


disable_dygraph = enable_static  # 1.x's name


def layers_compute():
    """Whether a function of fluid.layers without a Tensor or a Variable computes."""
    return _state["layers"] is not None


def in_dynamic_mode():
    """Whether functions compute: unless enable_static() was called.

    >>> paddle.in_dynamic_mode()
    True
    """
    return _state["mode"] != "static"


def in_dygraph_mode():
    """Whether a script of 1.x has asked for the dynamic graph, by fluid.dygraph.guard() or disable_static().

    >>> with fluid.dygraph.guard():
    ...     fluid.in_dygraph_mode()
    True
    """
    return _state["mode"] == "dynamic"


@contextlib.contextmanager
def guard(place=None):
    """The dynamic graph inside of the block.

    >>> with fluid.dygraph.guard():
    ...     paddle.ones([2]).tolist()
    [1.0, 1.0]
    """
    before = dict(_state)
    enable_dygraph(place)
    try:
        yield
    finally:
        _state.update(before)


def saved():
    """The mode, for restored()."""
    return dict(_state)


def restored(state):
    """The mode is again what saved() gave."""
    _state.update(state)


def refuse_static(what):
    """Raises in static mode: `what` is of the dynamic graph."""
    if not in_dynamic_mode():
        raise FailedPreconditionError(
            f"{what} is of the dynamic graph, and paddle.enable_static() has switched to programs; call "
            "paddle.disable_static() first, or use the names of paddle.static"
        )
