"""Programs and what they are made of."""

import contextlib
from typing import Any

from argosy import _core
from argosy.device import cpu_places, cuda_pinned_places, cuda_places, is_compiled_with_cuda
from argosy.errors import InvalidArgumentError
from argosy.fluid import indexing, program_options, program_state, rate
from argosy.fluid import methods as methods
from argosy.fluid import tensor_methods as tensor_methods
from argosy.fluid import unique_name as unique_name
from argosy.fluid.var_type import VarType as VarType
from argosy.graph_mode import disable_static, enable_static, in_dygraph_mode, in_dynamic_mode

Program = _core.Program
Block = _core.Block
Operator = _core.Operator
Variable = _core.Variable
Parameter = _core.Parameter
default_main_program = _core.default_main_program
default_startup_program = _core.default_startup_program

__all__ = [
    "Program",
    "Block",
    "Operator",
    "Variable",
    "Parameter",
    "default_main_program",
    "default_startup_program",
    "program_guard",
    "name_scope",
    "cpu_places",
    "cuda_places",
    "cuda_pinned_places",
    "in_dygraph_mode",
    "in_dynamic_mode",
    "enable_static",
    "disable_static",
    "is_compiled_with_cuda",
    "require_version",
    "seed",
    "convert_np_dtype_to_dtype_",
    "grad_var_name",
]

Variable.__getitem__ = indexing.getitem  # pyright: ignore[reportAttributeAccessIssue]
Variable.__iter__ = indexing.iterate  # pyright: ignore[reportAttributeAccessIssue]

Program._fleet_opt = property(program_options.get, program_options.put)  # pyright: ignore[reportAttributeAccessIssue]

Program.state_dict = program_state.state_dict  # pyright: ignore[reportAttributeAccessIssue]
Program.set_state_dict = program_state.set_state_dict  # pyright: ignore[reportAttributeAccessIssue]

_clone = Program.clone


def _clone_with_rates(self, for_test=False):
    copy = _clone(self, for_test)
    if not for_test:
        rate.hand_on(self, copy)
    return copy


_clone_with_rates.__doc__ = _clone.__doc__
Program.clone = _clone_with_rates

_scope_names = []  # of the name_scopes that are open


def _check_program(program, what):
    if not isinstance(program, Program):
        raise InvalidArgumentError(f"program_guard takes a Program as {what}; found {type(program).__name__}")


@contextlib.contextmanager
def program_guard(main_program, startup_program=None):
    """Layers that are built inside go to these programs.

    >>> main, startup = fluid.Program(), fluid.Program()
    >>> with fluid.program_guard(main, startup):
    ...     x = fluid.data("x", [None, 2])
    >>> main.global_block().has_var("x")
    True
    """
    _check_program(main_program, "main_program")
    if startup_program is not None:
        _check_program(startup_program, "startup_program")
    main_before = _core.switch_main_program(main_program)
    startup_before = _core.switch_startup_program(startup_program) if startup_program is not None else None
    try:
        yield
    finally:
        _core.switch_main_program(main_before)
        if startup_before is not None:
            _core.switch_startup_program(startup_before)


@contextlib.contextmanager
def name_scope(prefix=None):
    """Marks the operators that are built inside with the attribute op_namescope, for people who read the program.

    >>> with fluid.name_scope("encoder"):
    ...     y = fluid.layers.relu(fluid.data("x", [None, 2]))
    """
    _scope_names.append(prefix or "")
    block = default_main_program().current_block()
    before = set(block.ops)
    path = "/" + "".join(f"{name}/" for name in _scope_names)
    try:
        yield
    finally:
        _scope_names.pop()
        for op in block.ops:
            if op not in before and not op.has_attr("op_namescope"):
                op._set_attr("op_namescope", path)


def seed(seed):
    """Seeds the generator of the dynamic graph, from which random operators draw too where their program has no random_seed.

    >>> generator = paddle.seed(7)
    >>> first = paddle.rand([2]).tolist()
    >>> generator = paddle.seed(7)
    >>> first == paddle.rand([2]).tolist()
    True
    """
    _core.manual_seed(seed)


def _version(text, what):
    parts = str(text).split(".")
    if not all(part.isdigit() for part in parts):
        raise InvalidArgumentError(f"require_version: {what} is a version such as '1.8.0'; found {text!r}")
    return tuple(int(part) for part in parts)


def require_version(min_version, max_version=None):
    """Raises unless a dialect of Paddle that argosy speaks, 1.5 to 2.6, lies between the two.

    >>> paddle.utils.require_version("2.0.0", "2.6.2")
    """
    lowest = _version(min_version, "min_version")
    highest: Any = _version(max_version, "max_version") if max_version is not None else (2, 6)
    if lowest > (2, 6, 99) or highest < (1, 5):
        raise InvalidArgumentError(f"argosy speaks Paddle's dialects 1.5 to 2.6; {min_version} to {max_version or 'any'} was required")


def convert_np_dtype_to_dtype_(np_dtype):
    """The VarType of a NumPy dtype.

    >>> fluid.framework.convert_np_dtype_to_dtype_("float32")
    <VarType.FP32: 5>
    """
    return _core.to_dtype(np_dtype)


def grad_var_name(name):
    """The name of the gradient of a variable.

    >>> fluid.framework.grad_var_name("w")
    'w@GRAD'
    """
    return name + "@GRAD"
