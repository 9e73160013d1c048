"""Conditions and loops: in programs as operators that run blocks, on tensors as Python's own."""

from collections.abc import Callable
from typing import Any

from argosy import _core
from argosy._core.layers import Print, array_length, array_read, array_write, create_array  # pyright: ignore[reportMissingModuleSource]
from argosy.errors import InvalidArgumentError

__all__ = ["cond", "while_loop", "case", "switch_case", "While", "Switch", "Print", "create_array", "array_write", "array_read", "array_length"]

_layers = _core.layers


def _is_variable(x):
    return isinstance(x, _core.Variable)


def _leaves(structure):
    """The variables and numbers of nested lists, tuples and dicts."""
    if structure is None:
        return
    if isinstance(structure, dict):
        structure = structure.values()
    elif not isinstance(structure, (list, tuple)):
        yield structure
        return
    for each in structure:
        yield from _leaves(each)


def _like(structure, new) -> Any:
    """The same nest with values of the iterator `new` as its leaves."""
    if structure is None:
        return None
    if isinstance(structure, dict):
        return {key: _like(each, new) for key, each in structure.items()}
    if isinstance(structure, (list, tuple)):
        parts = [_like(each, new) for each in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)
    return next(new)


def _as_variables(structure, what):
    """Its leaves. Numbers become constants; what else is no variable is an error."""
    return [each if _is_variable(each) else _constant(each, what) for each in _leaves(structure)]


def _constant(value, what):
    if not isinstance(value, (bool, int, float)):
        raise InvalidArgumentError(f"{what} gives {type(value).__name__}, expected variables or numbers")
    dtype = "bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "float32"
    return _layers.fill_constant([1], dtype, value)


def cond(pred, true_fn=None, false_fn=None, name=None, return_names=None):
    """What true_fn() gives where pred, one bool, holds, and what false_fn() gives otherwise: variables, or lists, tuples and dicts of them, alike in both.

    >>> x = fluid.data("x", [1])
    >>> y = fluid.layers.cond(x > 0, lambda: x * 2, lambda: x - 1)
    >>> fluid.Executor().run(feed={"x": np.array([3], "float32")}, fetch_list=[y])[0].tolist()
    [6.0]
    """
    functions = (true_fn or (lambda: None), false_fn or (lambda: None))
    for function in functions:
        if not callable(function):
            raise TypeError(f"cond: expected functions for its branches; found {type(function).__name__}")
    if not _is_variable(pred):
        return functions[0 if bool(pred) else 1]()
    given = []

    def branch(function):
        def build():
            given.append(function())
            return _as_variables(given[-1], "a branch of cond")

        return build

    chosen = _layers._cond(pred, branch(functions[0]), branch(functions[1]))
    return _like(given[0], iter(chosen))


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars, is_test=False, name=None):
    """As long as cond(*loop_vars) holds, loop_vars become body(*loop_vars). Returns them.

    >>> i = fluid.layers.fill_constant([1], "int64", 0)
    >>> i, = fluid.layers.while_loop(lambda i: i < 10, lambda i: [i + 3], [i])
    >>> fluid.Executor().run(fetch_list=[i])[0].tolist()
    [12]
    """
    if not callable(cond) or not callable(body):
        raise TypeError("while_loop: cond and body are functions of the loop's variables")
    if not isinstance(loop_vars, (list, tuple)) or not loop_vars:
        raise InvalidArgumentError(f"while_loop: loop_vars is a list or a tuple of at least one variable; found {loop_vars!r}")
    if not any(_is_variable(each) for each in _leaves(loop_vars)):
        return _loop_on_tensors(cond, body, loop_vars)
    first = _as_variables(loop_vars, "loop_vars")
    _layers._while_loop(
        lambda values: cond(*_like(loop_vars, iter(values))),
        lambda values: _as_variables(body(*_like(loop_vars, iter(values))), "the body of while_loop"),
        first,
    )
    return _like(loop_vars, iter(first))


def _loop_on_tensors(cond, body, loop_vars):
    while bool(cond(*loop_vars)):
        made = body(*loop_vars)
        loop_vars = made if isinstance(made, (list, tuple)) else [made]
    return loop_vars


def case(pred_fn_pairs, default=None, name=None):
    """What the function of the first pair gives whose bool holds; `default`'s where none does, or the last pair's without it.

    >>> x = fluid.data("x", [1])
    >>> y = fluid.layers.case([(x > 2, lambda: x * 10), (x > 1, lambda: x * 100)], default=lambda: x)
    >>> fluid.Executor().run(feed={"x": np.array([2], "float32")}, fetch_list=[y])[0].tolist()
    [200.0]
    """
    pairs = list(pred_fn_pairs)
    if not pairs or any(not isinstance(pair, (list, tuple)) or len(pair) != 2 or not callable(pair[1]) for pair in pairs):
        raise TypeError("case: pred_fn_pairs is a list of pairs of a bool and a function")
    if default is None:
        default = pairs.pop()[1]
    chosen = default
    for pred, function in reversed(pairs):
        chosen = _either(pred, function, chosen)
    return chosen()


def _either(pred, function, otherwise):
    return lambda: cond(pred, function, otherwise)


def switch_case(branch_index, branch_fns, default=None, name=None):
    """What the function gives whose number is branch_index, one integer; `default`'s where there is none, or the last one's without it.

    >>> i = fluid.data("i", [1], "int64")
    >>> y = fluid.layers.switch_case(i, {1: lambda: i * 10, 7: lambda: i * 100}, default=lambda: i)
    >>> fluid.Executor().run(feed={"i": np.array([7])}, fetch_list=[y])[0].tolist()
    [700]
    """
    pairs = _numbered(branch_fns)
    if default is None:
        default = pairs[-1][1]
    return case([(_equals(branch_index, number), function) for number, function in pairs], default)


def _numbered(branch_fns):
    """Pairs of a number and a function, ascending."""
    if isinstance(branch_fns, dict):
        pairs = list(branch_fns.items())
    else:
        pairs = [each if isinstance(each, (list, tuple)) else (number, each) for number, each in enumerate(branch_fns)]
    if not pairs or any(not isinstance(number, int) or not callable(function) for number, function in pairs):
        raise TypeError("switch_case: branch_fns is a dict of functions by number, a list of pairs of a number and a function, or a list of functions")
    if len({number for number, _ in pairs}) != len(pairs):
        raise InvalidArgumentError(f"switch_case: a number occurs twice in {sorted(number for number, _ in pairs)}")
    return sorted(pairs, key=lambda pair: pair[0])


def _equals(index, number):
    if not _is_variable(index):
        return bool(index == number)
    return _layers.equal(index, _layers.fill_constant([1], index.dtype, number))


class _Body:
    """A block for `with`: `ended` gets it after its last operator was added."""

    def __init__(self, ended):
        self._context = _layers._BlockContext()
        self._ended = ended

    def __enter__(self):
        self._context.enter()
        return self

    def __exit__(self, kind, error, traceback):
        block = self._context.exit()
        if kind is None:
            self._ended(block)
        return False


class While:
    """A loop in a program: what is built in `with loop.block():` runs as long as `cond`, which it sets anew, holds.

    >>> i, n = fluid.layers.fill_constant([1], "int64", 0), fluid.layers.fill_constant([1], "int64", 10)
    >>> goes_on = fluid.layers.less_than(i, n)
    >>> with fluid.layers.While(goes_on).block():
    ...     i = fluid.layers.increment(i, in_place=True)
    ...     goes_on = fluid.layers.less_than(i, n, cond=goes_on)
    >>> fluid.Executor().run(fetch_list=[i])[0].tolist()
    [10]
    """

    def __init__(self, cond, is_test=False, name=None):
        if not _is_variable(cond):
            raise TypeError(f"While: cond is a variable of one bool; found {type(cond).__name__}")
        self._condition = cond

    def block(self):
        """What is built in it is the loop's body.

        >>> loop = fluid.layers.While(fluid.layers.fill_constant([1], "bool", False))
        >>> body = loop.block()  # for `with`
        """
        return _Body(lambda block: _layers._run_while(self._condition, block))


class Switch:
    """The first of several blocks whose condition holds, or the default one.

    >>> rate = fluid.layers.create_global_var([1], 0.0, "float32", persistable=True)
    >>> step = fluid.layers.fill_constant([1], "float32", 5.0)
    >>> with fluid.layers.Switch() as switch:
    ...     with switch.case(step < 3.0):
    ...         one = fluid.layers.assign(fluid.layers.fill_constant([1], "float32", 0.1), rate)
    ...     with switch.default():
    ...         other = fluid.layers.assign(fluid.layers.fill_constant([1], "float32", 0.01), rate)
    """

    def __init__(self, name=None):
        self._before = None  # none of the conditions so far holds
        self._open = False

    def __enter__(self):
        self._open = True
        return self

    def __exit__(self, kind, error, traceback):
        self._open = False
        return False

    def case(self, condition):
        """The block of `with switch.case(condition):` runs where `condition` holds and none before it did.

        >>> with fluid.layers.Switch() as switch:
        ...     with switch.case(fluid.layers.fill_constant([1], "bool", True)):
        ...         x = fluid.layers.fill_constant([1], "float32", 1.0)
        """
        self._check("case")
        if not _is_variable(condition):
            raise TypeError(f"Switch.case: the condition is a variable of one bool; found {type(condition).__name__}")
        chosen = condition if self._before is None else _layers.logical_and(self._before, condition)
        others = _layers.logical_not(condition)
        self._before = others if self._before is None else _layers.logical_and(self._before, others)
        return _Body(lambda block: _layers._run_if(chosen, block))

    def default(self):
        """The block of `with switch.default():` runs where no case did.

        >>> with fluid.layers.Switch() as switch:
        ...     with switch.case(fluid.layers.fill_constant([1], "bool", False)):
        ...         x = fluid.layers.fill_constant([1], "float32", 1.0)
        ...     with switch.default():
        ...         y = fluid.layers.fill_constant([1], "float32", 2.0)
        """
        self._check("default")
        if self._before is None:
            raise InvalidArgumentError("Switch.default: there is no case before it")
        chosen = self._before
        return _Body(lambda block: _layers._run_if(chosen, block))

    def _check(self, what):
        if not self._open:
            raise InvalidArgumentError(f"Switch.{what}: only inside of `with Switch() as switch:`")
