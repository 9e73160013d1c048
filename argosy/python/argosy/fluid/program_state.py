"""program.state_dict() and set_state_dict(): the values of a program's persistable variables in a scope."""

import warnings
from typing import Any

from argosy import _core
from argosy.errors import InvalidArgumentError

_MODES = ("all", "param", "opt")


def _persistable(program, mode) -> dict[str, Any]:
    """{name: variable} of what a mode means: parameters, the rest that an optimizer and metrics keep, or both."""
    if mode not in _MODES:
        raise InvalidArgumentError(f"Program.state_dict: mode is one of {', '.join(_MODES)}; found {mode!r}")
    return {one.name: one for one in program.list_vars() if one.persistable and mode in ("all", "param" if isinstance(one, _core.Parameter) else "opt")}


def state_dict(self, mode="all", scope=None):
    """{name: LoDTensor} of the persistable variables that have values in the scope, the global one unless given; mode is all, param or opt."""
    scope = _core.global_scope() if scope is None else scope
    found = ((name, scope.find_var(name)) for name in _persistable(self, mode))
    return {name: one.get_tensor() for name, one in found if one is not None and one.get_tensor()._is_initialized()}


def set_state_dict(self, state_dict, scope=None):
    """Writes values by the variables' names; those of no use are named in a warning."""
    known = _persistable(self, "all")
    unused = [name for name in state_dict if name not in known and name != "StructuredToParameterName@@"]
    if unused:
        warnings.warn(f"Program.set_state_dict: the program has no persistable variables {', '.join(unused)}; they have no effect", stacklevel=2)
    for name, value in state_dict.items():
        if name in known:
            known[name].set_value(value, scope)
